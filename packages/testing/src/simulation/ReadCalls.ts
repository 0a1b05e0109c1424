/** What readers do in a walk. */
import type { ObjectStore } from "@effect-wal/core/store/ObjectStore"
import { WalReader } from "@effect-wal/core/WalReader"
import type { WalRecord } from "@effect-wal/core/WalRecord"
import { Effect, Exit, Stream } from "effect"
import type { CursorCalls } from "./CursorCalls.ts"
import { Follower } from "./Follower.ts"
import { idOf } from "./Payload.ts"
import type { SeededRandom } from "./SeededRandom.ts"
import { simLog } from "./SimLog.ts"
import type { SimWriter } from "./SimWriter.ts"
import type { World } from "./World.ts"

const readLimit = 50

export interface OtherCalls {
  /** Makes the name of a call its own. */
  readonly name: (what: string) => string
  readonly cursors: CursorCalls
}

/** A caller looks at what it has read again within this, milliseconds. */
const longestKept = 10_000

export class ReadCalls {
  private readonly world: World
  private readonly random: SeededRandom
  private readonly calls: OtherCalls

  constructor(world: World, random: SeededRandom, calls: OtherCalls) {
    this.world = world
    this.random = random
    this.calls = calls
  }

  /** A reader that waits for more. */
  follow(writer: SimWriter): void {
    const { wal } = writer
    const status = writer.status()
    if (wal === undefined || status === undefined) return
    const { followers, records, violations } = this.world
    const from = status.trimmedTo + 1 + this.random.below(status.durable - status.trimmedTo + 2)
    const parts = { writer, from, records, violations, what: this.calls.name(`follow ${from}`) }
    const workMillis = this.random.pick([0, 0, 20, 500])
    followers.push(new Follower({ ...parts, workMillis }, wal.read({ from, until: "live" })))
  }

  read(writer: SimWriter): void {
    const { wal } = writer
    const status = writer.status()
    if (wal === undefined || status === undefined) return
    if (this.random.chance(0.3)) {
      const cursor = this.calls.cursors.any()
      const mark = status.cursors[cursor]?.mark
      const replayed = wal.replay({ cursor, until: "durable-end" })
      return this.collect(writer, this.calls.name(`replay ${cursor}`), replayed, mark === undefined ? 0 : mark + 1)
    }
    const from = 1 + this.random.below(status.durable + 2)
    this.collect(writer, this.calls.name(`read ${from}`), wal.read({ from, limit: readLimit }), from)
  }

  /** A reader on another node: here, one in the same process, with a view of its own. */
  readElsewhere(writer: SimWriter): void {
    const read = Stream.unwrap(
      Effect.map(WalReader.make(simLog), (reader) => reader.read())
    )
    this.collect(writer, this.calls.name("read elsewhere"), read, 0, false)
  }

  /** What is read is in order and without a hole; where it starts is known but for what was trimmed meanwhile. */
  private collect<E>(
    writer: SimWriter,
    what: string,
    read: Stream.Stream<WalRecord, E, ObjectStore>,
    from: number,
    isOwn = true
  ): void {
    const { records, timeline, violations } = this.world
    // A reader on another node can be ahead of the writer, which has no answer yet for what is stored: the two together
    // are not one log to the callers, each of them is.
    const told = isOwn ? this.world.historian.read(writer) : undefined
    const ids: Array<number> = []
    let last = from === 0 ? undefined : from - 1
    let first = from
    let kept: WalRecord | undefined
    const check = (record: WalRecord) =>
      Effect.sync(() => {
        violations.unless(last === undefined || record.seq === last + 1, () =>
          `P3: ${what} was shown ${record.seq} after ${last}`)
        if (last === undefined) {
          first = record.seq
        }
        last = record.seq
        ids.push(idOf(record.payload))
        kept = record
        records.shown(record.seq, idOf(record.payload))
      })
    writer.run(what, Stream.runForEach(Stream.take(read, readLimit), check), (exit) => {
      if (Exit.isSuccess(exit)) told?.(first, ids, ids.length < readLimit)
      // What a caller was given stays as it was, whatever the log does with its memory.
      timeline.after(this.random.logarithmic(10, longestKept), () =>
        violations.unless(
          kept === undefined || idOf(kept.payload) === ids.at(-1),
          () => `P3: ${what} has record ${kept?.seq}, and it has changed since`
        ))
    })
  }
}
