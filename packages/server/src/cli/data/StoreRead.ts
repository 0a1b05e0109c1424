/** Reading a stored log as an order asks for it: where to start, and going on where the store was away. */
import { errorTable } from "@effect-wal/core/ErrorTable"
import type { ReadError } from "@effect-wal/core/WalError"
import type { WalReaderService } from "@effect-wal/core/WalReader"
import { Effect, Schedule, Stream } from "effect"
import { CommandFailed } from "../Failure.ts"
import { type Element, lastNumber, type ReadOrder } from "./Target.ts"

/** The stream has no cursor of this name. */
export const cursorNotFound = (name: string): CommandFailed =>
  new CommandFailed({
    code: "cursor_not_found",
    message: `there is no cursor ${JSON.stringify(name)}`,
    next: "See which there are with `effect-wal cursor list`; `effect-wal cursor set` creates one.",
    exit: "notFound"
  })

type ReadFrom = number | { readonly appendedAtMillis: number } | undefined

/** Where an order starts: looked up once, so that a read that begins anew does not start later than the first. */
const fromOf = Effect.fnUntraced(function*(reader: WalReaderService, { start }: ReadOrder) {
  const oldest: ReadFrom = undefined
  switch (start._tag) {
    case "Seq":
      return start.seq
    case "Time":
      return { appendedAtMillis: start.millis }
    case "Oldest":
      return oldest
    case "Cursor": {
      const { cursors } = yield* reader.status
      const mark = Object.hasOwn(cursors, start.name) ? cursors[start.name] : undefined
      return mark === undefined ? yield* cursorNotFound(start.name) : mark + 1
    }
    case "Next":
    case "Last": {
      const { durable, trimmedTo } = yield* reader.status
      return Math.max(trimmedTo, durable - (start._tag === "Last" ? start.records : 0)) + 1
    }
  }
})

/** First and longest pause before a store that does not answer is asked again. */
const followPause = { first: "500 millis", longest: "10 seconds" } as const

const followSchedule = Schedule.min([
  Schedule.exponential(followPause.first),
  Schedule.spaced(followPause.longest)
]).pipe(
  Schedule.setInputType<ReadError>(),
  Schedule.while(({ input }) => errorTable[input._tag].retryable)
)

const readElements = (
  reader: WalReaderService,
  { follow, onDamage }: ReadOrder,
  from: ReadFrom
): Stream.Stream<Element, ReadError> => {
  const options = { until: follow ? "live" as const : "durable-end" as const, ...from === undefined ? {} : { from } }
  return onDamage === "skip" ? reader.read({ ...options, onDamage }) : reader.read(options)
}

/** The read that an order asks for. One that follows outlives a store that is away, and goes on behind what came. */
export const startRead = Effect.fnUntraced(function*(reader: WalReaderService, order: ReadOrder) {
  const from = yield* fromOf(reader, order)
  let next: number | undefined
  const elements = Stream.suspend(() => readElements(reader, order, next ?? from))
  const all = !order.follow ? elements : elements.pipe(
    Stream.tap((element) =>
      Effect.sync(() => {
        next = lastNumber(element) + 1
      })
    ),
    Stream.retry(followSchedule)
  )
  return order.limit === undefined ? all : Stream.take(all, order.limit)
})
