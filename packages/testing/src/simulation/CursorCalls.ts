/** What callers do with cursors in a walk. */
import { defaultCursor } from "@effect-wal/core/format/CursorSet"
import { Effect } from "effect"
import type { SeededRandom } from "./SeededRandom.ts"
import type { SimWriter } from "./SimWriter.ts"
import type { World } from "./World.ts"

const cursors = ["default", "default", "a", "b"] as const
const removable = ["a", "b"] as const

export class CursorCalls {
  private readonly world: World
  private readonly random: SeededRandom
  private readonly name: (what: string) => string

  /** `name` makes the name of a call its own. */
  constructor(world: World, random: SeededRandom, name: (what: string) => string) {
    this.world = world
    this.random = random
    this.name = name
  }

  /** One of the cursors. */
  any(): string {
    return this.random.pick(cursors)
  }

  /** Mostly of what is durable. */
  commit(writer: SimWriter): void {
    const { wal } = writer
    const durable = writer.status()?.durable ?? 0
    if (wal === undefined) return
    const cursor = this.any()
    const seq = this.random.chance(0.9) ? this.random.below(durable + 1) : durable + this.random.below(5)
    if (seq <= durable) this.world.records.commits(cursor, seq)
    const told = this.world.historian.ack(writer, cursor, 1, seq)
    const committed = Effect.map(this.makes(writer, cursor, wal.commit(seq, { cursor })), told)
    writer.run(this.name(`commit ${cursor} ${seq}`), committed)
  }

  /** A few numbers at or shortly after the mark. */
  ack(writer: SimWriter): void {
    const { wal } = writer
    const status = writer.status()
    if (wal === undefined || status === undefined || status.durable === 0) return
    const cursor = this.any()
    const mark = status.cursors[cursor]?.mark ?? 0
    const from = Math.min(status.durable, mark + 1 + this.random.below(6))
    const to = Math.min(status.durable, from + this.random.below(4))
    this.world.records.acks(cursor, from, to)
    const told = this.world.historian.ack(writer, cursor, from, to)
    const acked = Effect.map(this.makes(writer, cursor, wal.ack({ from, to }, { cursor })), told)
    const noted = cursor === defaultCursor ? Effect.map(acked, () => this.acked(writer, from, to)) : acked
    writer.run(this.name(`ack ${cursor} ${from}-${to}`), noted)
  }

  remove(writer: SimWriter): void {
    const { wal } = writer
    if (wal === undefined) return
    const cursor = this.random.pick(removable)
    this.world.records.removes(cursor)
    const done = this.world.records.cursorSets.remove(cursor)
    const removed = Effect.map(wal.removeCursor(cursor), () => this.answered(writer, done))
    writer.run(this.name(`remove ${cursor}`), removed)
  }

  /** Tells the oracle of a call that has made a cursor, once it is done. */
  private makes<E>(writer: SimWriter, cursor: string, call: Effect.Effect<void, E>): Effect.Effect<void, E> {
    const done = this.world.records.cursorSets.use(cursor)
    return Effect.suspend(() => {
      const known = writer.status()?.cursors
      const isNew = known !== undefined && !(cursor in known)
      return isNew ? Effect.map(call, () => this.answered(writer, done)) : call
    })
  }

  /** It is stored, or so it was said: a crash right now must not matter. */
  private answered(writer: SimWriter, done: () => void): void {
    done()
    if (!this.world.isHealed && this.random.chance(0.3)) writer.process.interruptAfter(this.random.below(5), "kill")
  }

  /** P5: so many ranges above a mark, and no more. */
  private acked(writer: SimWriter, from: number, to: number): void {
    const { options: { cursor: { maxAhead } }, violations } = this.world
    const mark = writer.status()?.cursors[defaultCursor]?.mark ?? 0
    writer.ahead.acked(from, to)
    const ranges = writer.ahead.rangesAbove(mark)
    violations.unless(ranges <= maxAhead, () => `P5: ${ranges} ranges are ahead of a mark, most are ${maxAhead}`)
  }
}
