/** `effect-wal cat` and `effect-wal tail`: records to stdout, as the HTTP API writes them or as bare payloads. */
import { isLostRange } from "@effect-wal/core/WalRecord"
import { Console, Deferred, Effect, Option, Stdio, Stream } from "effect"
import { Command } from "effect/cli"
import { encodeElement } from "../../body/RecordEncoder.ts"
import { stopSignal } from "../../Signals.ts"
import { usageError } from "../Failure.ts"
import { Json } from "../Output.ts"
import { onTarget } from "./DataHandler.ts"
import { delimiterOf, readFlags, type ReadInput, startOf } from "./ReadFlags.ts"
import { type Element, lastNumber, type ReadOrder, type Start, Target } from "./Target.ts"
import { chooseStreamId, targetFlags, type TargetInput } from "./TargetFlags.ts"

const newline = Buffer.from("\n")

/** What has been printed. */
interface Printed {
  records: number
  lost: number
  last: number | undefined
}

const count = (printed: Printed, elements: ReadonlyArray<Element>): void => {
  for (const element of elements) {
    if (isLostRange(element)) printed.lost += element.to - element.from + 1
    else printed.records++
    printed.last = lastNumber(element)
  }
}

/** One write for what comes at a time. */
const encode = (input: ReadInput, elements: ReadonlyArray<Element>): Uint8Array => {
  if (!input.raw) return Buffer.concat(elements.flatMap((element) => [encodeElement(element), newline]))
  const delimiter = delimiterOf(input.delimiter)
  return Buffer.concat(elements.flatMap((element) => isLostRange(element) ? [] : [element.payload, delimiter]))
}

/** Bare payloads cannot name a range: it is told beside them. */
const tellLost = (elements: ReadonlyArray<Element>) =>
  Effect.forEach(
    elements.filter(isLostRange),
    ({ from, reason, to }) => Console.error(`effect-wal: records ${from} to ${to} are lost: ${reason}`),
    { discard: true }
  )

const writeAll = Effect.fnUntraced(
  function*<E, R>(input: ReadInput, elements: Stream.Stream<Element, E, R>, printed: Printed) {
    const stdio = yield* Stdio.Stdio
    return yield* elements.pipe(
      Stream.chunks,
      Stream.tap((some) => input.raw ? tellLost(some) : Effect.void),
      Stream.map((some) => {
        count(printed, some)
        return encode(input, some)
      }),
      Stream.run(stdio.stdout())
    )
  }
)

const checkForm = Effect.fnUntraced(function*(input: ReadInput) {
  if (input.raw && (yield* Json)) return yield* usageError("--raw and --json: they are two forms", "Give one of them.")
  if (!input.raw && Option.isSome(input.delimiter)) return yield* usageError("--delimiter needs --raw", "Add --raw.")
})

const orderOf = Effect.fnUntraced(function*(input: ReadInput, byDefault: Start, follow: boolean) {
  yield* checkForm(input)
  const order: ReadOrder = {
    start: yield* startOf(input, byDefault),
    onDamage: input.onDamage,
    follow,
    ...Option.isNone(input.limit) ? {} : { limit: input.limit.value }
  }
  return order
})

const openRead = Effect.fnUntraced(function*(input: TargetInput, order: ReadOrder) {
  const target = yield* Target
  const reader = yield* target.reader(yield* chooseStreamId(input.stream))
  return reader.read(order)
})

const fresh = (): Printed => ({ records: 0, lost: 0, last: undefined })

const cat = (input: ReadInput & TargetInput) =>
  onTarget(
    "reads",
    input,
    Effect.gen(function*() {
      const order = yield* orderOf(input, { _tag: "Oldest" }, false)
      yield* writeAll(input, yield* openRead(input, order), fresh())
    })
  )

const summary = ({ last, lost, records }: Printed): string =>
  `${records} record${records === 1 ? "" : "s"}${lost === 0 ? "" : `, ${lost} lost`}${
    last === undefined ? "" : `; the last one was ${last}, go on with --from ${last + 1}`
  }`

const tail = (input: ReadInput & TargetInput) =>
  onTarget(
    "reads",
    input,
    Effect.gen(function*() {
      const order = yield* orderOf(input, { _tag: "Next" }, true)
      const stopped = yield* Deferred.make<void>()
      yield* Effect.forkScoped(Effect.andThen(stopSignal, Deferred.succeed(stopped, undefined)), {
        startImmediately: true
      })
      const printed = fresh()
      const elements = Stream.interruptWhen(yield* openRead(input, order), Deferred.await(stopped))
      yield* writeAll(input, elements, printed)
      if (!(yield* Json)) yield* Console.error(`effect-wal: ${summary(printed)}`)
    })
  )

/** The command. */
export const catCommand = Command.make("cat", { ...targetFlags, ...readFlags }, cat).pipe(
  Command.withDescription(
    "Print the durable records of a stream, one JSON object a line as the HTTP API writes them, up to the durable end. " +
      "A payload that is JSON stands in it byte for byte, any other as payload_base64."
  ),
  Command.withShortDescription("Print the records of a stream"),
  Command.withExamples([
    { command: "effect-wal cat", description: "All records of the only stream of the server on this machine" },
    { command: "effect-wal cat --stream orders --since 10m", description: "What was appended in the last ten minutes" },
    { command: "effect-wal cat --last 100 --raw", description: "The last hundred payloads, one a line" },
    {
      command: "effect-wal cat --config wal.yaml --cursor default --on-damage skip",
      description: "From the store itself: what is not committed yet, going over damage"
    }
  ])
)

/** The command. */
export const tailCommand = Command.make("tail", { ...targetFlags, ...readFlags }, tail).pipe(
  Command.withDescription(
    "Print records as they become durable, until Ctrl-C. A lost connection or a restarted server is waited for: no record " +
      "is left out and none comes twice. It starts with the next record, or where a flag says."
  ),
  Command.withShortDescription("Follow a stream"),
  Command.withExamples([
    { command: "effect-wal tail", description: "Follow the only stream of the server on this machine" },
    { command: "effect-wal tail --last 10", description: "The last ten records, and what comes" },
    { command: "effect-wal tail --stream orders --from 1 --raw | jq .total", description: "Everything, payloads alone" }
  ])
)
