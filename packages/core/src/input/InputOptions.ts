/** The options of an input, with their defaults, and the input as its parts see it. */
import { type Array, Duration, Effect, type Stream } from "effect"
import { defaultCursor } from "../format/CursorSet.ts"
import { ConfigError, type ConfigProblem } from "../WalError.ts"
import type { Producer } from "../WalService.ts"
import type { InputLog, Unreadable } from "./InputLog.ts"
import type { RefusedElement } from "./Offer.ts"

/** When an element is handled: once it is durable, or as soon as the log has accepted it. */
export type HandleMode = "after-durable" | "after-accepted"

/** `U` is what of the log cannot be delivered. */
export interface InputOptions<
  A,
  U extends Unreadable = Unreadable,
  E = never,
  R = never,
  E2 = never,
  R2 = never,
  E3 = never,
  R3 = never
> {
  /**
   * `after-durable` (default): an element is read back from the log and handled once it is durable. `after-accepted`: it is
   * handled as soon as it has its number, while it is being stored: sooner by the time of a PUT, and a crash in between can
   * lose an element that was handled already. What each can lose and double stands in `DurableInput.ts`.
   */
  readonly handle?: HandleMode
  /**
   * The cursor that says how far the input is. It is made where it is missing, and starts then at the oldest record that the
   * log still has. Default `default`.
   */
  readonly cursor?: string
  /**
   * Elements that are held in memory at most: taken from the source and not durable yet; with `after-accepted` not committed
   * yet. With so many the source is not pulled. A chunk that the source emits is taken whole and accepted in pieces. Lower
   * values hold a fast source back while the store answers, higher ones take memory. Default 10,000.
   */
  readonly maxPending?: number
  /** The same in bytes, of one element more at most. Default 64 MiB (67,108,864). */
  readonly maxPendingBytes?: number
  /** Bytes that an element takes. Default: those of the payload of a record; 0 for a value, so that only their number counts. */
  readonly sizeOf?: (element: A) => number
  /**
   * Makes the source idempotent: an element that comes again under the same id and sequence is not appended and not handled
   * again, and is acknowledged like any other. Sequences must rise from element to element: one below the newest of its
   * producer counts as appended before. Each element is then a call of its own. Default: none.
   */
  readonly producer?: (element: A) => Producer
  /**
   * The acknowledgement to the source, as to a broker: called with elements in the order of the source once they are
   * durable, one call at a time. On a log that is switched off: once they are handled, as nothing else could give them
   * again. Where it fails the input fails.
   */
  readonly onDurable?: (elements: Array.NonEmptyReadonlyArray<A>) => Effect.Effect<unknown, E, R>
  /**
   * Where an element goes that the log refuses: too large, a field that breaks a rule, a producer's number that was used for
   * another element. It is not in the log then and no handler sees it; the others of its chunk are appended without it.
   * Called before what comes after the element is appended, and again where the source gives the element again. Once it has
   * succeeded, the element is acknowledged to the source in its turn, as if it were in the log. Default: the input fails with
   * the error.
   */
  readonly onRefused?: (element: A, error: RefusedElement) => Effect.Effect<unknown, E3, R3>
  /**
   * Called for what stands in the log and cannot be delivered, which is then committed: a range that damage took away; in a
   * log of values also a record that does not decode. Default: the input fails with the error that reading gives. A lost
   * range counts as acknowledged when the log delivers it, whatever becomes of this call.
   */
  readonly onUnreadable?: (unreadable: U) => Effect.Effect<unknown, E2, R2>
  /** How long a stop waits for handlers, and for what was accepted to become durable. Default 10 seconds. */
  readonly stopTimeout?: Duration.Input
}

/**
 * An input with all its options set. The source gives `A`, of which the log keeps what is `B`. `E` and `R` are all that it
 * fails with and needs.
 */
export interface InputSpec<A extends B, B, E, R> {
  readonly log: InputLog<B, E, R>
  readonly source: Stream.Stream<A, E, R>
  readonly handle: HandleMode
  readonly cursor: string
  readonly maxPending: number
  readonly maxPendingBytes: number
  readonly sizeOf: (element: A) => number
  readonly producer: ((element: A) => Producer) | undefined
  readonly onDurable: ((elements: Array.NonEmptyReadonlyArray<A>) => Effect.Effect<unknown, E, R>) | undefined
  readonly onRefused: ((element: A, error: RefusedElement) => Effect.Effect<unknown, E, R>) | undefined
  readonly onUnreadable: ((unreadable: Unreadable) => Effect.Effect<unknown, E, R>) | undefined
  readonly stopTimeout: Duration.Duration
}

const defaultMaxPending = 10_000
const defaultMaxPendingBytes = 67_108_864
const defaultStopTimeout = Duration.seconds(10)

/** Sets what the caller left open. The hooks have errors of their own, so they come apart. */
export const specOf = <A extends B, B, E, R>(
  parts: Pick<InputSpec<A, B, E, R>, "log" | "source" | "sizeOf" | "onDurable" | "onRefused" | "onUnreadable">,
  options: Pick<
    InputOptions<A>,
    "cursor" | "handle" | "maxPending" | "maxPendingBytes" | "producer" | "sizeOf" | "stopTimeout"
  >
): InputSpec<A, B, E, R> => ({
  ...parts,
  handle: options.handle ?? "after-durable",
  cursor: options.cursor ?? defaultCursor,
  maxPending: options.maxPending ?? defaultMaxPending,
  maxPendingBytes: options.maxPendingBytes ?? defaultMaxPendingBytes,
  sizeOf: options.sizeOf ?? parts.sizeOf,
  producer: options.producer,
  stopTimeout: options.stopTimeout === undefined
    ? defaultStopTimeout
    : Duration.fromInputUnsafe(options.stopTimeout)
})

const problemOf = (path: string, value: number): ReadonlyArray<ConfigProblem> =>
  Number.isSafeInteger(value) && value >= 1
    ? []
    : [{ path, value: String(value), rule: `must be a whole number from 1 to ${Number.MAX_SAFE_INTEGER}` }]

/** Fails `ConfigError` for numbers that make no sense, instead of taking others. */
export const checkNumbers = (numbers: Readonly<Record<string, number>>): Effect.Effect<void, ConfigError> => {
  const problems = Object.entries(numbers).flatMap(([path, value]) => problemOf(path, value))
  return problems.length === 0 ? Effect.void : Effect.fail(new ConfigError({ source: "DurableInput", problems }))
}
