/**
 * Leaves one rule out of the code at a time, and walks until that is found: who finds nothing when something is wrong has
 * shown nothing when all is right.
 *
 * Each mutation is walked by one process, seed after seed, so that how many walks it takes is the same in every run; several
 * mutations are tried side by side, each in a copy of the tree of its own.
 */
import { rmSync } from "node:fs"
import { join } from "node:path"
import { applyEdits, copyTree } from "../CopiedTree.ts"
import { type Mutation, mutations } from "./Mutations.ts"
import type { SimOptions } from "./SimOptions.ts"
import { type Walked, walkMany } from "./WalkMany.ts"

const root = join(import.meta.dirname, "..", "..")
/** Without any mutation nothing is found in so many walks. */
const cleanWalks = 300
/** A walk takes some tens of milliseconds; one that takes longer than this does not end. */
const longestWalkMillis = 120_000

/** What came of a mutation. */
export interface Tried {
  readonly mutation: string
  readonly found: boolean
  /** Walks that were begun, with the one that found it. */
  readonly walks: number
  /** The walk that found it. */
  readonly seed?: number
  readonly violation?: string
}

/** What the walks of a mutant say. Throws where its code does not even load: that shows nothing about walks. */
export const judgeMutant = (mutation: string, from: number, walked: Walked): Tried => {
  const { broken, endless, isLoaded, sums } = walked
  const [found] = sums.found
  if (found !== undefined) {
    return { mutation, found: true, walks: sums.walks, seed: found.seed, violation: found.violations[0] ?? "" }
  }
  if (broken !== undefined && !isLoaded) throw new Error(`${mutation}: the code does not load: ${broken}`)
  const seed = endless ?? from + sums.walks
  if (endless !== undefined) {
    return { mutation, found: true, walks: seed - from + 1, seed, violation: "it does not end" }
  }
  if (broken !== undefined) {
    const [error = "without a word"] = /^(\w*Error|FATAL ERROR)\b.*$/m.exec(broken) ?? []
    return { mutation, found: true, walks: sums.walks + 1, seed, violation: `its process ends: ${error}` }
  }
  return { mutation, found: false, walks: sums.walks }
}

interface Output {
  readonly print: (text: string) => void
  readonly say: (text: string) => void
}

const sentence = ({ found, mutation, seed, violation, walks }: Tried): string =>
  found
    ? `${mutation}: found in ${walks} ${walks === 1 ? "walk" : "walks"} (seed ${seed}: ${violation})`
    : `${mutation}: NOT FOUND in ${walks} walks`

class Trial {
  private readonly options: SimOptions
  private readonly output: Output
  private readonly copies: Array<string> = []
  private isStopped = false
  private missed = 0

  constructor(options: SimOptions, output: Output) {
    this.options = options
    this.output = output
  }

  async run(chosen: ReadonlyArray<Mutation>): Promise<boolean> {
    const stop = () => {
      this.isStopped = true
    }
    const remove = () => {
      for (const copy of this.copies.splice(0)) rmSync(copy, { recursive: true, force: true })
    }
    process.once("SIGINT", stop)
    process.once("SIGTERM", stop)
    process.once("exit", remove)
    try {
      if (!await this.isClean()) return false
      const left = [...chosen]
      const lanes = Math.min(this.options.processes, chosen.length)
      await Promise.all(Array.from({ length: lanes }, (_, at) => this.tryAll(this.copy(at), left)))
      return !this.isStopped && this.missed === 0
    } finally {
      process.off("SIGINT", stop)
      process.off("SIGTERM", stop)
      process.off("exit", remove)
      remove()
    }
  }

  private copy(at: number): string {
    return this.copies[at] ??= copyTree(root)
  }

  private walk(
    copy: string,
    range: { readonly walks: number; readonly processes: number; readonly from?: number }
  ): Promise<Walked> {
    const { from, minutes } = this.options
    const walked = { from, minutes, branches: false, stopsAtFirst: true, walkMillis: longestWalkMillis }
    const tree = { root: copy, compileCache: join(copy, "compiled") }
    return walkMany({ ...walked, ...tree, ...range }, { onPart: () => undefined, progress: () => undefined })
  }

  /** In the copy as it is nothing may be found. */
  private async isClean(): Promise<boolean> {
    const { processes, walks } = this.options
    const walked = await this.walk(this.copy(0), { walks: Math.min(walks, cleanWalks), processes })
    const { found, seed, violation, walks: count } = judgeMutant("no mutation", this.options.from, walked)
    const what = found ? `seed ${seed} breaks it: ${violation}` : "nothing is found"
    this.output.say(`${count} walks without a mutation: ${what}`)
    return !found
  }

  /** What the code as it is does in the same walk is no finding of a mutation. */
  private async confirmed(copy: string, tried: Tried): Promise<Tried> {
    const { mutation, seed, walks } = tried
    if (seed === undefined) return tried
    const walked = await this.walk(copy, { from: seed, walks: 1, processes: 1 })
    const { found, violation } = judgeMutant("no mutation", seed, walked)
    if (!found) return tried
    this.output.say(`seed ${seed} is broken without a mutation too: ${violation}`)
    return { mutation, found: false, walks }
  }

  private async tryAll(copy: string, left: Array<Mutation>): Promise<void> {
    for (let next = left.shift(); next !== undefined && !this.isStopped; next = left.shift()) {
      this.output.say(`trying: ${next.name}`)
      const restore = applyEdits(copy, next.edits)
      const walked = await this.walk(copy, { walks: this.options.walks, processes: 1 })
      restore()
      if (this.isStopped) return
      const tried = await this.confirmed(copy, judgeMutant(next.name, this.options.from, walked))
      if (!tried.found) this.missed++
      this.output.print(this.options.json ? JSON.stringify(tried) : sentence(tried))
    }
  }
}

/** Tries the mutations that the options name, and prints each. Answers whether all of them were found. */
export const tryMutations = async (options: SimOptions, output: Output): Promise<boolean> => {
  const word = options.mutation ?? ""
  const chosen = mutations.filter(({ name }) => name.includes(word))
  if (chosen.length === 0) throw new Error(`no mutation has ${JSON.stringify(word)} in its name`)
  const trial = new Trial(options, output)
  const isGood = await trial.run(chosen)
  output.say(`${chosen.length} mutations: ${isGood ? "all are found" : "not all are found"}`)
  return isGood
}
