/** A source that a test feeds, and handlers that it holds. */
import { Array, type Cause, Deferred, Effect, Queue, Stream } from "effect"
import type { Delivery } from "../../src/DurableInput.ts"
import type { AppendRecord } from "../../src/WalRecord.ts"
import type { WalService } from "../../src/WalService.ts"
import { decode, range, records, settle } from "../support/LogWorld.ts"

/** Lets an input do all that it can: elements go through several fibers one after the other. */
export const quiet: Effect.Effect<void> = Effect.asVoid(Effect.repeat(settle, { times: 30 }))

/** What a record holds. */
export const textOf = (record: AppendRecord): string => decode(record.payload)

/** A source of records, one a chunk, that counts what was taken from it and keeps what was acknowledged to it. */
export const makeSource = Effect.gen(function*() {
  const queue = yield* Queue.unbounded<AppendRecord, Cause.Done>()
  const acked: Array<string> = []
  const seen = { taken: 0, closed: false }
  const pull = Effect.map(Queue.take(queue), (record) => {
    seen.taken++
    return Array.of(record)
  })
  const close = Effect.sync(() => {
    seen.closed = true
  })
  return {
    stream: Stream.ensuring(Stream.fromPull(Effect.succeed(pull)), close),
    acked,
    seen,
    /** Gives `r{from}` and the following. */
    give: (count: number, from = 1) => Effect.asVoid(Queue.offerAll(queue, records(count, from))),
    end: Queue.end(queue),
    onDurable: (elements: ReadonlyArray<AppendRecord>) =>
      Effect.sync(() => {
        acked.push(...elements.map(textOf))
      })
  }
})

/** A handler that keeps what it was given, and holds some of it. */
export const makeHandler = () => {
  const started: Array<string> = []
  const done: Array<string> = []
  const interrupted: Array<string> = []
  const gates = new Map<string, Deferred.Deferred<void>>()
  const handle = (record: AppendRecord) => {
    const text = textOf(record)
    return Effect.suspend(() => {
      started.push(text)
      const gate = gates.get(text)
      return gate === undefined ? Effect.void : Deferred.await(gate)
    }).pipe(
      Effect.andThen(Effect.sync(() => done.push(text))),
      Effect.onInterrupt(() => Effect.sync(() => interrupted.push(text)))
    )
  }
  return {
    started,
    done,
    interrupted,
    handle,
    hold: (text: string) => {
      const gate = Deferred.makeUnsafe<void>()
      gates.set(text, gate)
      return { finish: Deferred.succeed(gate, undefined) }
    }
  }
}

/** `seq` and whether it may have come before, of each delivery. */
export const replays = (deliveries: Iterable<Delivery<unknown>>) =>
  [...deliveries].map(({ isReplay, seq }) => `${seq}${isReplay ? " again" : ""}`)

/** The mark of a cursor. */
export const markOf = (wal: WalService, cursor = "default") =>
  Effect.map(wal.status, ({ cursors }) => cursors[cursor]?.mark)

/** Names of `r{from}` to `r{to}`. */
export const names = (from: number, to: number): ReadonlyArray<string> => range(from, to).map((number) => `r${number}`)
