/** The fields of the `producers` block: how much is remembered of those who append once. */
import { Schema } from "effect"
import { duration, integer, withDefault } from "./Field.ts"

/** `producers`. */
export const ProducersBlock = Schema.Struct({
  max: withDefault(
    integer({
      min: 1,
      max: 10_000,
      note:
        "Producers, or keys of `Idempotency-Key`, whose newest five calls are remembered; beyond it the one whose " +
        "newest call is oldest is forgotten. Each takes about 100 bytes of every manifest, and more with a long id."
    }),
    1_000
  ),
  ttl: withDefault(
    duration({
      min: "1ms",
      max: "36500d",
      note: "How long a producer is remembered after its newest call. A repeat that comes later is appended again."
    }),
    "10m"
  )
})
