/** Two processes with one identity, which take the log from each other while the other one appends. */
import { Effect, Redacted, Stream } from "effect"
import { join } from "node:path"
import { parseArgs } from "node:util"
import * as WalReader from "../../packages/core/src/WalReader.ts"
import * as S3ObjectStore from "../../packages/s3/src/S3ObjectStore.ts"
import type { RealS3 } from "../../packages/testing/src/RealS3.ts"
import { findRealS3, workFolder } from "./Places.ts"
import { grouped, nowMillis, pause, type Run, type Scenario, seededChance, seedOf, spread } from "./Run.ts"
import { identity, originOf, recordOf, type WriterSetup } from "./TakeoverTalk.ts"
import { WriterProcess } from "./WriterProcess.ts"

const limitSeconds = 1_800

const help = `takeovers: two processes with one identity on the real S3 server take the log from each other under load

  --takeovers 100
  --mode fresh|same    fresh: each take-over by a new process (it waits, loaded, until it is told to open);
                       same: two processes that open, are fenced, and open again (default fresh)
  --seed N             repeats how long each writer appends before the next one opens
  --load 600           longest such time, milliseconds
  --appenders 8        appends at a time, each of --batch records
  --batch 5
  --codec zstd|lz4|none   (default zstd)

Each writer that is taken over must end with WriterFenced, refuse every later call with it, and stay that way. At the
end the whole log is read by a WalReader: dense, every acknowledged record at its number with its bytes.`

/** Who has which number, as far as acknowledged. */
class Acks {
  readonly bySeq = new Map<number, string>()
  private readonly run: Run
  highest = 0

  constructor(run: Run) {
    this.run = run
  }

  add(first: number, writer: string, ordinal: number, count: number): void {
    for (let index = 0; index < count; index++) {
      const seq = first + index
      const record = `${writer} ${ordinal + index}`
      const other = this.bySeq.get(seq)
      this.run.promise(other === undefined, `number ${seq} was acknowledged for ${other} and for ${record}`)
      this.bySeq.set(seq, record)
    }
    this.highest = Math.max(this.highest, first + count - 1)
  }
}

const environmentOf = (s3: RealS3) => ({
  S3_ENDPOINT: s3.endpoint,
  S3_BUCKET: s3.bucket,
  AWS_REGION: s3.region,
  AWS_ACCESS_KEY_ID: s3.credentials.accessKeyId,
  AWS_SECRET_ACCESS_KEY: Redacted.value(s3.credentials.secretAccessKey)
})

/** Reads the whole log without writing, and compares it with what was acknowledged. */
const verify = async (run: Run, s3: RealS3, prefix: string, acks: Acks): Promise<number> => {
  let expected = 1
  let found = 0
  const seen = new Map<string, number>()
  const look = (record: { readonly seq: number; readonly payload: Uint8Array }) => {
    run.promise(record.seq === expected, `a hole: record ${record.seq} where ${expected} must stand`)
    expected = record.seq + 1
    const text = Buffer.from(record.payload).toString("utf8")
    const origin = originOf(text)
    const good = origin !== undefined && recordOf(origin.writer, origin.ordinal) === text
    run.promise(good, `record ${record.seq} is not what any writer sent: ${text.slice(0, 60)}`)
    if (origin === undefined) return
    const name = `${origin.writer} ${origin.ordinal}`
    run.promise(!seen.has(name), `record ${name} has the numbers ${seen.get(name)} and ${record.seq}`)
    seen.set(name, record.seq)
    const acknowledged = acks.bySeq.get(record.seq)
    if (acknowledged === undefined) return
    run.promise(acknowledged === name, `number ${record.seq} was acknowledged for ${acknowledged} and holds ${name}`)
    found++
  }
  const read = Effect.scoped(Effect.gen(function*() {
    const reader = yield* WalReader.WalReader.make({ ...identity, prefix })
    yield* Stream.runForEach(reader.read(), (record) => Effect.sync(() => look(record)))
  }))
  await Effect.runPromise(Effect.provide(read, S3ObjectStore.layer(s3)))
  run.promise(found === acks.bySeq.size, `${acks.bySeq.size - found} acknowledged records are missing`)
  return expected - 1
}

const scenario = async (run: Run, args: ReadonlyArray<string>): Promise<void> => {
  const { values } = parseArgs({
    args: [...args],
    options: {
      takeovers: { type: "string", default: "100" },
      mode: { type: "string", default: "fresh" },
      seed: { type: "string" },
      load: { type: "string", default: "600" },
      appenders: { type: "string", default: "8" },
      batch: { type: "string", default: "5" },
      codec: { type: "string", default: "zstd" }
    }
  })
  const seed = seedOf(values.seed)
  const chance = seededChance(seed)
  const takeovers = Number(values.takeovers)
  const fresh = values.mode === "fresh"
  run.progress(`seed ${seed}; ${takeovers} take-overs, mode ${values.mode}, codec ${values.codec}`)
  const folder = workFolder(run)
  const s3 = findRealS3(run)
  const prefix = `takeovers-${process.pid}-${seed}`
  const acks = new Acks(run)
  const codec = values.codec === "zstd" || values.codec === "lz4" ? values.codec : "none"
  /** Told when the next acknowledgement of a writer arrives. */
  let onAck: ((writer: string) => void) | undefined
  const writer = (number: number): WriterProcess => {
    const setup: WriterSetup = {
      name: `${number % 2 === 0 ? "A" : "B"}${fresh ? number : ""}`,
      prefix,
      appenders: Number(values.appenders),
      batch: Number(values.batch),
      codec
    }
    return new WriterProcess(run, setup, {
      env: environmentOf(s3),
      logPath: join(folder, `writer-${setup.name}.log`),
      onDurable: ({ count, first, ordinal }) => {
        acks.add(first, setup.name, ordinal, count)
        onAck?.(setup.name)
      }
    })
  }
  const firstAckOf = (name: string) =>
    Promise.race([
      new Promise<void>((done) => {
        onAck = (from) => from === name ? done() : undefined
      }),
      pause(95_000).then(() => Promise.reject(new Error(`writer ${name}: no acknowledgement in 95 s`)))
    ])

  let old = writer(0)
  await old.next("Loaded")
  old.tell({ _tag: "Open" })
  let epoch = (await old.next("Opened")).epoch
  await firstAckOf(old.name)
  let spare = writer(1)
  const times: { open: Array<number>; firstAck: Array<number>; fenced: Array<number> } = {
    open: [],
    firstAck: [],
    fenced: []
  }
  let unknown = 0
  for (let number = 1; number <= takeovers; number++) {
    const next = spare
    if (fresh || number === 1) await next.next("Loaded")
    await pause(chance() * Number(values.load))
    const before = acks.bySeq.size
    const toldAt = nowMillis()
    const fencedAt = old.next("Ended").then((ended) => ({ ended, at: nowMillis() }))
    const acked = firstAckOf(next.name)
    next.tell({ _tag: "Open" })
    const opening = next.next("Opened").then((opened) => ({ opened, openedAt: nowMillis() }))
    const acking = acked.then(nowMillis)
    const [{ opened, openedAt }, ackedAt, { at, ended }] = await Promise.all([opening, acking, fencedAt])
    times.open.push(opened.millis)
    times.firstAck.push(ackedAt - toldAt)
    times.fenced.push(Math.max(0, at - openedAt))
    unknown += ended.unknown
    run.promise(opened.epoch > epoch, `take-over ${number}: epoch ${opened.epoch} after ${epoch}`)
    run.promise(ended.error === "WriterFenced", `take-over ${number}: the old writer ended with ${ended.error}`)
    run.promise(ended.state === "fenced", `take-over ${number}: the state of the old writer is ${ended.state}`)
    run.promise(
      ended.laterErrors.every((error) => error === "WriterFenced"),
      `take-over ${number}: later calls answered ${ended.laterErrors.join(", ")}`
    )
    run.progress(
      `take-over ${number}: epoch ${opened.epoch}, open ${Math.round(opened.millis)} ms, first ack after ${
        Math.round(ackedAt - toldAt)
      } ms, old fenced ${Math.round(at - openedAt)} ms after the opening, ${
        acks.bySeq.size - before
      } acknowledged meanwhile, ${ended.unknown} of the old unknown`
    )
    epoch = opened.epoch
    if (fresh) {
      await old.stop()
      spare = writer(number + 1)
    } else spare = old
    old = next
  }
  run.promise(await old.stop() === 0, "the last writer did not end with 0")
  if (fresh) await spare.kill()
  else await spare.stop()
  const durable = await verify(run, s3, prefix, acks)
  run.progress(`read back: ${grouped(durable)} records, ${grouped(acks.bySeq.size)} of them acknowledged`)
  Object.assign(run.result, {
    seed,
    mode: values.mode,
    takeovers,
    fencedEachTime: run.ok,
    epoch,
    acknowledged: acks.bySeq.size,
    durable,
    unknownAtFence: unknown,
    openMillis: spread(times.open),
    firstAckMillis: spread(times.firstAck),
    oldFencedAfterOpeningMillis: spread(times.fenced)
  })
}

/** The scenario `takeovers`. */
export const takeovers: Scenario = { help, limitSeconds, scenario }
