/** Requests to the store: a segment, idle, open and close, counted in front of the store. */
import { Effect, Exit, Scope } from "effect"
import { join } from "node:path"
import { parseArgs } from "node:util"
import * as HttpS3Double from "../../packages/testing/src/HttpS3Double.ts"
import type { RealS3 } from "../../packages/testing/src/RealS3.ts"
import { findRealS3, workFolder } from "./Places.ts"
import { countKinds, RequestProxy, type SeenRequest } from "./RequestProxy.ts"
import { nowMillis, pause, type Run, type Scenario } from "./Run.ts"
import { append, commit, ServerProcess, writeConfig } from "./ServerProcess.ts"
import { s3Block } from "./Store.ts"

const limitSeconds = 900

const help = `requests: requests to the store, counted by a proxy in front of it

  --store s3|double   the real S3 server, or the HTTP double of packages/testing, whose own count must agree
  --seconds 60        of load, and of idling after it
  --rate 10           segments a second
  --records 20        in each segment
  --commit            commits the cursor once a second (what it has passed is deleted then)

Opens three times: a new log, after a close, after kill -9. Goals: at most 1.13 PUT, GET and LIST a segment from the
first durable ack to before the close, 0 while idle, at most 14 to open (the store probe and the questions about the
bucket's set-up are printed apart).`

/** Longest time from a durable segment to the manifest that says so, and some more: then nothing is due any more. */
const settleMillis = 12_000

const mostPerSegment = 1.13
const mostToOpen = 14

/** Marks in the list of requests, so that each part of a run counts its own. */
class Meter {
  private readonly proxy: RequestProxy
  private mark = 0

  constructor(proxy: RequestProxy) {
    this.proxy = proxy
  }

  /** What was seen since the last call. */
  take(): ReadonlyArray<SeenRequest> {
    const since = this.proxy.seen.slice(this.mark)
    this.mark = this.proxy.seen.length
    return since
  }
}

const protocolOf = (seen: ReadonlyArray<SeenRequest>) => seen.filter(({ part }) => part === "protocol")
const withoutDeletes = (seen: ReadonlyArray<SeenRequest>) => protocolOf(seen).filter(({ kind }) => kind !== "DELETE")
const segmentsIn = (seen: ReadonlyArray<SeenRequest>) =>
  seen.filter(({ kind, path, status }) => kind === "PUT" && status === 200 && path.includes(".seg")).length

/** Starts a server and counts what opening takes. */
const open = async (run: Run, meter: Meter, what: string, start: () => ServerProcess) => {
  meter.take()
  const server = start()
  run.promise(await server.ready(), "the server did not become ready")
  const seen = meter.take()
  const protocol = withoutDeletes(seen)
  const apart = (part: SeenRequest["part"]) => seen.filter((one) => one.part === part).length
  const deletes = protocolOf(seen).length - protocol.length
  const counted = {
    requests: protocol.length,
    kinds: countKinds(protocol),
    deletes,
    probe: apart("probe"),
    advice: apart("advice")
  }
  run.progress(`open ${what}: ${JSON.stringify(counted)}`)
  run.promise(protocol.length <= mostToOpen, `open ${what}: ${protocol.length} requests, at most ${mostToOpen}`)
  return { server, counted }
}

interface LoadShape {
  readonly seconds: number
  readonly rate: number
  readonly records: number
  readonly commit: boolean
}

/** Posts at a fixed rate whether or not the answers are there yet, and waits for all of them. */
const load = async (run: Run, server: ServerProcess, shape: LoadShape): Promise<void> => {
  const line = Buffer.from(JSON.stringify({ sensor: "a-17", value: 21.5, unit: "C", text: "x".repeat(120) }))
  const lines = Array.from({ length: shape.records }, () => line)
  const startedAt = nowMillis()
  const answers: Array<Promise<void>> = []
  for (let index = 0; index < shape.seconds * shape.rate; index++) {
    await pause(Math.max(0, startedAt + index * 1_000 / shape.rate - nowMillis()))
    answers.push(
      append(server, lines).then(async ({ lastSeq, status, text }) => {
        run.promise(status === 200, `append answered ${status}: ${text}`)
        if (shape.commit && index % shape.rate === 0) await commit(server, lastSeq)
      })
    )
  }
  await Promise.all(answers)
}

/** The double in this process; its count of requests is the store's own. */
const startDouble = async (run: Run) => {
  const scope = await Effect.runPromise(Scope.make())
  run.atEnd(() => Effect.runPromise(Scope.close(scope, Exit.void)))
  return await Effect.runPromise(Scope.provide(HttpS3Double.make(), scope))
}

const scenario = async (run: Run, args: ReadonlyArray<string>): Promise<void> => {
  const { values } = parseArgs({
    args: [...args],
    options: {
      store: { type: "string", default: "s3" },
      seconds: { type: "string", default: "60" },
      rate: { type: "string", default: "10" },
      records: { type: "string", default: "20" },
      commit: { type: "boolean", default: false }
    }
  })
  const folder = workFolder(run)
  const double = values.store === "double" ? await startDouble(run) : undefined
  const s3: RealS3 = double?.s3Options ?? findRealS3(run)
  const proxy = new RequestProxy(s3.endpoint)
  await proxy.listen(run)
  const meter = new Meter(proxy)
  const configPath = writeConfig(folder, `requests-${process.pid}`, {
    ...s3Block({ ...s3, endpoint: proxy.url }),
    // No linger and one POST at a time: each POST is a segment.
    segment_tuning: { strategy: "balanced", linger: "0ms" }
  })
  const shape: LoadShape = {
    seconds: Number(values.seconds),
    rate: Number(values.rate),
    records: Number(values.records),
    commit: values.commit
  }
  const start = () => new ServerProcess(run, configPath, join(folder, "server.log"))

  const first = await open(run, meter, "a new log", start)
  await append(first.server, [Buffer.from("{\"first\":true}")])
  meter.take()
  run.progress(`load: ${shape.rate} segments/s for ${shape.seconds} s${shape.commit ? ", a commit each second" : ""}`)
  await load(run, first.server, shape)
  await pause(settleMillis)
  const busy = meter.take()
  const segments = segmentsIn(busy)
  const counted = withoutDeletes(busy)
  const perSegment = counted.length / segments
  const busyResult = {
    segments,
    segmentsPerSecond: Math.round(segments / shape.seconds * 100) / 100,
    requests: counted.length,
    kinds: countKinds(counted),
    perSegment: Math.round(perSegment * 10_000) / 10_000,
    deletes: protocolOf(busy).length - counted.length
  }
  run.progress(`busy: ${JSON.stringify(busyResult)}`)
  run.promise(perSegment <= mostPerSegment, `${perSegment} requests a segment, at most ${mostPerSegment}`)
  run.promise(segments >= shape.rate * shape.seconds * 0.9, `${segments} segments only: the load was not reached`)

  await pause(shape.seconds * 1_000)
  const idle = meter.take()
  run.progress(`idle for ${shape.seconds} s: ${idle.length} requests`)
  run.promise(idle.length === 0, `idle: ${JSON.stringify(countKinds(idle))}`)

  run.promise(await first.server.stop() === 0, "the server did not end with 0")
  const close = meter.take()
  run.progress(`close: ${JSON.stringify(countKinds(close))}`)

  const second = await open(run, meter, "after a close", start)
  await load(run, second.server, { ...shape, seconds: 5, commit: false })
  await second.server.kill()
  const third = await open(run, meter, "after kill -9", start)
  run.promise(await third.server.stop() === 0, "the last server did not end with 0")
  if (double !== undefined) {
    run.promise(
      double.requests.length === proxy.seen.length,
      `the double counts ${double.requests.length} requests, the proxy ${proxy.seen.length}`
    )
    run.progress(`the double's own log: ${double.requests.length} requests, the proxy's: ${proxy.seen.length}`)
  }
  Object.assign(run.result, {
    store: values.store,
    commit: shape.commit,
    busy: busyResult,
    idle: { seconds: shape.seconds, requests: idle.length },
    close: countKinds(close),
    open: { newLog: first.counted, afterClose: second.counted, afterKill: third.counted }
  })
}

/** The scenario `requests`. */
export const requests: Scenario = { help, limitSeconds, scenario }
