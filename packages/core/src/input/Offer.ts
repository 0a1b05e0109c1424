/**
 * Offers elements to the log: each is accepted once and in order, or refused.
 *
 * Several go in together; one by one where one of them is refused, which is known before any is accepted.
 */
import { type Array, Effect, Schedule } from "effect"
import type { AppendError, InvalidProducer, InvalidRecord, ProducerConflict, RecordTooLarge } from "../WalError.ts"
import type { Appended, AppendOptions } from "../WalService.ts"
import type { InputMeters } from "./InputMetrics.ts"
import type { InputSpec } from "./InputOptions.ts"

/** Why the log does not take an element, now or ever. The element was offered alone: an `index` is always 0. */
export type RefusedElement = RecordTooLarge | InvalidRecord | InvalidProducer | ProducerConflict

const refusals: ReadonlySet<string> = new Set<RefusedElement["_tag"]>([
  "RecordTooLarge",
  "InvalidRecord",
  "InvalidProducer",
  "ProducerConflict"
])

const isRefusal = (error: AppendError): error is RefusedElement => refusals.has(error._tag)

/** A disk without room gets some, or a person gives it some; the source waits meanwhile. */
const diskFullPause = Schedule.spaced("1 second")

/** Waits for room, also on the disk. */
const accept = <A extends B, B, E, R>(
  { log }: InputSpec<A, B, E, R>,
  elements: Array.NonEmptyReadonlyArray<A>,
  options: AppendOptions = {}
): Effect.Effect<Appended, AppendError, R> =>
  log.append(elements, options).pipe(
    // Of a call that fails so nothing was accepted.
    Effect.tapError((error) => error._tag === "DiskFull" ? Effect.logWarning(error.message) : Effect.void),
    Effect.retry({ while: (error) => error._tag === "DiskFull", schedule: diskFullPause })
  )

/** All of them; `"apart"` where one is refused, so that each has to be offered alone. */
export const offerTogether = <A extends B, B, E, R>(
  spec: InputSpec<A, B, E, R>,
  elements: Array.NonEmptyReadonlyArray<A>
): Effect.Effect<Appended | "apart", AppendError, R> =>
  Effect.catch(
    accept(spec, elements),
    (error) => spec.onRefused !== undefined && isRefusal(error) ? Effect.succeed("apart" as const) : Effect.fail(error)
  )

/**
 * One element. `"earlier"` where its producer is past it: it was appended before, and it is not known under which number.
 */
export const offerOne = <A extends B, B, E, R>(
  spec: InputSpec<A, B, E, R>,
  meters: Pick<InputMeters, "refused">,
  element: A
): Effect.Effect<Appended | "earlier" | "refused", E | AppendError, R> => {
  const { onRefused, producer } = spec
  return accept(spec, [element], producer === undefined ? {} : { producer: producer(element) }).pipe(
    Effect.catch((error): Effect.Effect<"earlier" | "refused", E | AppendError, R> => {
      if (error._tag === "ProducerSequenceTooOld") return Effect.succeed("earlier")
      if (onRefused === undefined || !isRefusal(error)) return Effect.fail(error)
      return Effect.gen(function*() {
        yield* onRefused(element, error)
        meters.refused()
        yield* Effect.logWarning(
          `the log has refused an element of the source, which is kept elsewhere: ${error.message}`
        )
        return "refused" as const
      })
    })
  )
}
