/** All benchmarks, in the order in which they run. */
import type { Bench } from "./Bench.ts"
import { append } from "./benches/Append.ts"
import { encode } from "./benches/Encode.ts"

export const benches: ReadonlyArray<Bench> = [encode, append]
