/** All benchmarks, in the order in which they run. */
import type { Bench } from "./Bench.ts"
import { ack } from "./benches/Ack.ts"
import { append } from "./benches/Append.ts"
import { compare } from "./benches/Compare.ts"
import { compress } from "./benches/Compress.ts"
import { encode } from "./benches/Encode.ts"
import { growth } from "./benches/Growth.ts"
import { hedge } from "./benches/Hedge.ts"
import { http } from "./benches/Http.ts"
import { law } from "./benches/Law.ts"
import { linger } from "./benches/Linger.ts"
import { local } from "./benches/Local.ts"
import { put } from "./benches/Put.ts"
import { recover } from "./benches/Recover.ts"
import { requests } from "./benches/Requests.ts"
import { takeover } from "./benches/Takeover.ts"

export const benches: ReadonlyArray<Bench> = [
  encode,
  append,
  local,
  put,
  law,
  ack,
  linger,
  hedge,
  requests,
  recover,
  takeover,
  http,
  compress,
  compare,
  growth
]
