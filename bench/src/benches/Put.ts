/** Sending segments as fast as the machine can, and what a processor does for it. */
import { PutObjectCommand, S3Client } from "@aws-sdk/client-s3"
import type { ObjectStore } from "@effect-wal/core/store/ObjectStore"
import type { WalService } from "@effect-wal/core/WalService"
import { Effect } from "effect"
import { nowMillis } from "../../../scripts/acceptance/Run.ts"
import type { Bench, BenchContext } from "../Bench.ts"
import type { Measurement } from "../Line.ts"
import { pairedRatios, type Spread, spreadOf } from "../Stats.ts"
import { type StoreProcess, withStore } from "../store/StoreProcess.ts"
import { barePuts } from "../support/BarePut.ts"
import type { LogOptions } from "../support/OpenLog.ts"
import { payloadsOf, recordsOf } from "../support/Payloads.ts"
import { withClient, withRemoteLog } from "../support/RemoteLog.ts"

const lanes = 8
const sizes = [["1 MiB", 1_048_576], ["4 KiB", 4_096]] as const

/** What one round of a contender came to. */
interface Sent {
  readonly megabytesPerSecond: number
  /** Seconds of this process's processor for 1,000 objects. */
  readonly cpuSeconds: number
}

type Send = (nth: number) => Promise<unknown>

/** Works until that says how many objects of so many bytes it has sent. */
const measure = async (bytes: number, work: (startedAt: number) => Promise<number>): Promise<Sent> => {
  const startedAt = nowMillis()
  const cpu = process.cpuUsage()
  const count = await work(startedAt)
  const { system, user } = process.cpuUsage(cpu)
  const seconds = (nowMillis() - startedAt) / 1_000
  return { megabytesPerSecond: count * bytes / 1e6 / seconds, cpuSeconds: (system + user) / 1e6 / count * 1_000 }
}

/** Keeps so many requests under way for so long. */
const sendFor = (millis: number, bytes: number, send: Send): Promise<Sent> =>
  measure(bytes, async (startedAt) => {
    let count = 0
    const lane = async () => {
      while (nowMillis() - startedAt < millis) await send(count++)
    }
    await Promise.all(Array.from({ length: lanes }, lane))
    return count
  })

const sdkPut = (sdk: S3Client, body: Uint8Array): Send => (nth) =>
  sdk.send(new PutObjectCommand({ Bucket: "bench", Key: `sdk/${nth}.seg`, Body: body }))

const logOptions = (bytes: number): LogOptions => ({
  parallelPut: { workers: lanes },
  segment: { maxBytes: bytes, maxEntries: 1_000_000 },
  tailBufferBytes: 0,
  manifest: { maxSegments: 65_536, maxDelay: "1h" }
})

/** Everything from records to durable segments of that size. */
const sendThrough = (wal: WalService, bytes: number, millis: number): Promise<Sent> => {
  const records = recordsOf(payloadsOf(Math.max(1, bytes / 16_384), Math.min(bytes, 16_384)))
  const segmentsUntil = Effect.fnUntraced(function*(endMillis: number) {
    let segments = 0
    while (nowMillis() < endMillis) {
      yield* wal.append(records)
      segments++
    }
    yield* wal.flush
    return segments
  })
  return measure(bytes, (startedAt) => Effect.runPromise(segmentsUntil(startedAt + millis)))
}

type Rounds = Record<"node:http" | "AWS SDK" | "client" | "client, signed" | "log", Array<Sent>>

/** The first round: what is compiled while it runs takes longer than a short round. */
const warmUpMillis = 1_000

type Turns = ReadonlyArray<readonly [keyof Rounds, (millis: number) => Promise<Sent>]>

const takeTurns = async (context: BenchContext, bytes: number, turns: Turns): Promise<Rounds> => {
  const rounds: Rounds = { "node:http": [], "AWS SDK": [], client: [], "client, signed": [], log: [] }
  for (let round = 0; round <= context.rounds; round++) {
    for (const [index, [name, run]] of turns.entries()) {
      context.progress((round + index / turns.length) / (context.rounds + 1), `${name}, ${bytes} bytes`)
      if (round === 0) await run(Math.max(warmUpMillis, context.roundMillis))
      else rounds[name].push(await context.around(`${name}, ${bytes}`, () => run(context.roundMillis)))
    }
  }
  return rounds
}

const measureSize = async (context: BenchContext, store: StoreProcess, bytes: number): Promise<Rounds> => {
  const body = payloadsOf(1, bytes)[0] ?? new Uint8Array(bytes)
  const bare = barePuts(store.endpoint, lanes, body)
  const credentials = { accessKeyId: "bench", secretAccessKey: "bench" }
  const sdk = new S3Client({ endpoint: store.endpoint, region: "us-east-1", forcePathStyle: true, credentials })
  let nth = 0
  const clientPut = (client: ObjectStore["Service"]): Send => () =>
    Effect.runPromise(client.create(`client/${bytes}-${nth++}.seg`, body))
  const measureOn = (client: ObjectStore["Service"], signing: ObjectStore["Service"]) =>
    withRemoteLog(store, logOptions(bytes), (wal) =>
      Effect.promise(() =>
        takeTurns(context, bytes, [
          ["node:http", (millis) => sendFor(millis, bytes, bare.put)],
          ["AWS SDK", (millis) => sendFor(millis, bytes, sdkPut(sdk, body))],
          ["client", (millis) => sendFor(millis, bytes, clientPut(client))],
          ["client, signed", (millis) => sendFor(millis, bytes, clientPut(signing))],
          ["log", (millis) => sendThrough(wal, bytes, millis)]
        ])
      ))
  try {
    return await withClient(
      store,
      (client) =>
        Effect.promise(() =>
          withClient(store, (signing) => Effect.promise(() => measureOn(client, signing)), "over_tls")
        )
    )
  } finally {
    sdk.destroy()
    bare.close()
  }
}

const cpuGoals = { "1 MiB": 1.5, "4 KiB": 0.5 } as const

const linesOf = (size: keyof typeof cpuGoals, rounds: Rounds): ReadonlyArray<Measurement> => {
  const speed = (name: keyof Rounds) => rounds[name].map((sent) => sent.megabytesPerSecond)
  const cpu = (name: keyof Rounds): Spread => spreadOf(rounds[name].map((sent) => sent.cpuSeconds))
  const context = (name: keyof Rounds): Measurement => ({
    metric: `${name}, processor for 1,000 × ${size}`,
    value: cpu(name),
    unit: "s",
    better: "lower"
  })
  return [
    ...(size === "1 MiB"
      ? [{
        metric: `log, ${size}, against the AWS SDK as it comes`,
        value: spreadOf(pairedRatios(speed("log"), speed("AWS SDK"))),
        unit: "x",
        better: "higher" as const,
        goal: 2,
        peer: { name: "AWS SDK", value: spreadOf(speed("AWS SDK")).median, unit: "MB/s" }
      }, {
        metric: `node:http, ${size}, against the AWS SDK as it comes`,
        value: spreadOf(pairedRatios(speed("node:http"), speed("AWS SDK"))),
        unit: "x",
        better: "higher" as const,
        note: "what this machine, with the store on its other core, leaves to win"
      }]
      : []),
    {
      metric: `log, processor for 1,000 × ${size}`,
      value: cpu("log"),
      unit: "s",
      better: "lower",
      goal: cpuGoals[size],
      floor: { name: "node:http", value: cpu("node:http").median, unit: "s" }
    },
    context("client"),
    { ...context("client, signed"), note: "bodies are part of the signature, as they are without TLS" },
    context("AWS SDK"),
    context("node:http")
  ]
}

export const put: Bench = {
  name: "put",
  about: "PUTs as fast as they go, against the AWS SDK as it comes and bare node:http",
  run: (context) =>
    withStore({ latency: { kind: "none" }, keepsSegments: false }, async (store) => {
      const lines: Array<Measurement> = []
      for (const [size, bytes] of sizes) lines.push(...linesOf(size, await measureSize(context, store, bytes)))
      return lines
    })
}
