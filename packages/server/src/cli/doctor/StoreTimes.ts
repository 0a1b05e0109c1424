/** How long a store takes for each kind of request, and how far its clock is from this machine's. */
import type { ObjectStore, Tag } from "@effect-wal/core/store/ObjectStore"
import type { ObjectStoreError } from "@effect-wal/core/store/ObjectStoreError"
import { Effect, Result } from "effect"
import { humanBytes, humanMillis } from "../HumanText.ts"
import { measured } from "../Measure.ts"
import { type Percentiles, percentilesOf } from "../Percentiles.ts"
import { type CheckResult, good, type Tell } from "./Check.ts"
import { type Place, refusedRow } from "./StoreAnswer.ts"

/** What the measuring works with. */
export interface StoreTiming {
  readonly store: ObjectStore["Service"]
  readonly prefix: string
  readonly place: Place
  readonly tell: Tell
  readonly tries: number
  readonly objectBytes: number
  readonly key: (part: string) => string
  readonly write: (part: string, body: Uint8Array) => Effect.Effect<Tag, ObjectStoreError>
}

/** The documents of the source warn at this p99 of a PUT, and page at the next one. */
const slowMillis = 200
const verySlowMillis = 500

const timesText = ({ max, p50, p90, p99 }: Percentiles): string =>
  `p50 ${humanMillis(p50)}, p90 ${humanMillis(p90)}, p99 ${humanMillis(p99)}, max ${humanMillis(max)}`

const valuesOf = ({ max, p50, p90, p99 }: Percentiles): Readonly<Record<string, number>> => ({
  p50_ms: p50,
  p90_ms: p90,
  p99_ms: p99,
  max_ms: max
})

/** The row of the times of one kind of request. */
export const timesRow = (check: string, times: ReadonlyArray<number>, note: string): CheckResult => {
  const percentiles = percentilesOf(times)
  const found = `${timesText(percentiles)} (${times.length} of ${note})`
  if (percentiles.p99 <= slowMillis) return good(check, found, valuesOf(percentiles))
  return {
    check,
    status: "warning",
    found,
    means: percentiles.p99 > verySlowMillis
      ? `slower than ${verySlowMillis} ms: acknowledgements wait so long, and one worker carries little`
      : `slower than ${slowMillis} ms at times: acknowledgements wait so long`,
    next: "Look for a store that is nearer, or for what stands between; parallel_put.workers and hedge help a little.",
    values: valuesOf(percentiles)
  }
}

/** Times PUT, GET and LIST, one request after the other. */
export const timeChecks = Effect.fnUntraced(function*(timing: StoreTiming) {
  const { key, objectBytes, place, prefix, store, tell, tries, write } = timing
  const body = Uint8Array.from({ length: objectBytes }, (_, index) => index * 131 % 251)
  const names = Array.from({ length: tries }, (_, index) => `time-${index}`)
  const size = humanBytes(objectBytes)
  const kinds: ReadonlyArray<
    readonly [check: string, note: string, (name: string) => Effect.Effect<unknown, ObjectStoreError>]
  > = [
    ["time of PUT", size, (name) => write(name, body)],
    ["time of GET", size, (name) => store.get(key(name))],
    ["time of LIST", "a page", () => store.list({ prefix })]
  ]
  for (const [check, note, request] of kinds) {
    const times = yield* Effect.result(
      Effect.forEach(names, (name) => Effect.map(measured(request(name)), ({ millis }) => millis))
    )
    yield* tell(
      Result.isSuccess(times) ? timesRow(check, times.success, note) : refusedRow(check, times.failure, place)
    )
  }
})
