/** The fields of the `budget` block: what the requests of a log may cost. */
import { Schema } from "effect"
import { s3StandardUsEast1 } from "../StorePrices.ts"
import { decimal, optional } from "./Field.ts"

const { asOf, name, per1000Puts } = s3StandardUsEast1

/** `budget`: one of the two. */
export const BudgetBlock = Schema.Struct({
  puts_per_second: optional(
    decimal({
      min: 0.001,
      max: 10_000,
      note: "PUTs a second, all of them: segments, manifest, tries again. While more were sent of late, `linger` is " +
        "stretched for who waits for durability, up to `flush_interval` and never beyond it. Lower: fewer PUTs, slower " +
        "acks. Segments that are full, and `flush`, are never held back. Not with `sync: periodic` or `type: local`."
    }),
    "no budget"
  ),
  dollars_per_month: optional(
    decimal({
      min: 0.01,
      max: 100_000_000,
      note: `The same as dollars for PUTs in 30 days, at $${per1000Puts} for 1,000 (${name}, ${asOf}); reading and ` +
        "storage come on top. Give one of the two."
    }),
    "no budget"
  )
})
