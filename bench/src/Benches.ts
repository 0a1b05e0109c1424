/** All benchmarks, in the order in which they run. */
import type { Bench } from "./Bench.ts"
import { ack } from "./benches/Ack.ts"
import { append } from "./benches/Append.ts"
import { encode } from "./benches/Encode.ts"
import { hedge } from "./benches/Hedge.ts"
import { law } from "./benches/Law.ts"
import { put } from "./benches/Put.ts"

export const benches: ReadonlyArray<Bench> = [encode, append, put, law, ack, hedge]
