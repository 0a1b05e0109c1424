/**
 * The visited states of a search: an exact set of packed states, each with the state that it was first reached from.
 *
 * Owns: memory of all states, kept in full, so that two states are one only if every byte is the same. The number of a
 * state is the order in which it came, so the set is the queue of a breadth-first search too.
 */

/** States in one block of memory. */
const blockStates = 65_536

/** The table is doubled when more than this share of it is taken. */
const mostTaken = 0.6

const mix = (hash: number, word: number): number => {
  const spread = Math.imul(word ^ (word >>> 15), 0x2c1b_3c6d)
  return Math.imul(hash ^ spread ^ (spread >>> 13), 0x297a_2d39)
}

export class StateSet {
  /** 32-bit words of one state. */
  private readonly words: number
  private readonly blocks: Array<Uint32Array> = []
  private readonly parents: Array<Uint32Array> = []
  /** Numbers of states, plus 1; 0 is free. */
  private table: Uint32Array
  private count = 0
  private readonly hashOf: (state: Uint32Array, at: number) => number

  /** `hashOf` is for tests that need collisions. */
  constructor(words: number, tableSize = 1 << 16, hashOf?: (state: Uint32Array, at: number) => number) {
    this.words = words
    this.table = new Uint32Array(tableSize)
    this.hashOf = hashOf ?? ((state, at) => this.hash(state, at))
  }

  /** States in the set. */
  get size(): number {
    return this.count
  }

  /** Bytes that the set takes. */
  get bytes(): number {
    return this.table.byteLength + this.blocks.length * blockStates * (this.words + 1) * 4
  }

  /** Adds a state that was reached from the state number `parent`; false where it is there already. */
  add(state: Uint32Array, parent: number): boolean {
    const mask = this.table.length - 1
    let place = this.hashOf(state, 0) & mask
    for (;;) {
      const found = this.table[place] ?? 0
      if (found === 0) break
      if (this.isAt(found - 1, state)) return false
      place = (place + 1) & mask
    }
    const offset = this.count % blockStates
    if (offset === 0) {
      this.blocks.push(new Uint32Array(blockStates * this.words))
      this.parents.push(new Uint32Array(blockStates))
    }
    this.blocks.at(-1)?.set(state, offset * this.words)
    const parents = this.parents.at(-1)
    if (parents !== undefined) parents[offset] = parent
    this.count++
    this.table[place] = this.count
    if (this.count > this.table.length * mostTaken) this.grow()
    return true
  }

  /** The number of a state; -1 where it is not in the set. */
  find(state: Uint32Array): number {
    const mask = this.table.length - 1
    for (let place = this.hashOf(state, 0) & mask;; place = (place + 1) & mask) {
      const found = this.table[place] ?? 0
      if (found === 0) return -1
      if (this.isAt(found - 1, state)) return found - 1
    }
  }

  /** Writes the state with this number to `to`. */
  read(index: number, to: Uint32Array): void {
    const block = this.blocks[Math.floor(index / blockStates)]
    const start = (index % blockStates) * this.words
    for (let word = 0; word < this.words; word++) to[word] = block?.[start + word] ?? 0
  }

  /** The number of the state that this one was first reached from; of the first one its own. */
  parentOf(index: number): number {
    return this.parents[Math.floor(index / blockStates)]?.[index % blockStates] ?? 0
  }

  private isAt(index: number, state: Uint32Array): boolean {
    const block = this.blocks[Math.floor(index / blockStates)]
    if (block === undefined) return false
    const start = (index % blockStates) * this.words
    for (let word = 0; word < this.words; word++) if (block[start + word] !== state[word]) return false
    return true
  }

  private hash(state: Uint32Array, at: number): number {
    let hash = 0x9e37_79b9
    for (let word = at; word < at + this.words; word++) hash = mix(hash, state[word] ?? 0)
    return (hash ^ (hash >>> 16)) >>> 0
  }

  private grow(): void {
    const table = new Uint32Array(this.table.length * 2)
    const mask = table.length - 1
    for (let index = 0; index < this.count; index++) {
      const block = this.blocks[Math.floor(index / blockStates)]
      if (block === undefined) break
      let place = this.hashOf(block, (index % blockStates) * this.words) & mask
      while (table[place] !== 0) place = (place + 1) & mask
      table[place] = index + 1
    }
    this.table = table
  }
}
