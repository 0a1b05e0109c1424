/** The main job on real input: in over HTTP, durable, out again byte for byte, on each store with each codec. */
import { join } from "node:path"
import { parseArgs } from "node:util"
import { type Corpus, type CorpusName, readCorpus } from "./Corpus.ts"
import { workFolder } from "./Places.ts"
import { compareJson, readNdjson } from "./ReadBack.ts"
import { grouped, nowMillis, type Run, type Scenario } from "./Run.ts"
import { append, nodeId, ServerProcess, streamId, writeConfig } from "./ServerProcess.ts"
import { openStore, type Store } from "./Store.ts"

const limitSeconds = 1_200

const help = `main-job: real JSON documents over HTTP into a server and back, compared byte for byte

  --stores directory,s3              which stores (s3: the server that S3_ENDPOINT and so on name, else scripts/radosgw.sh)
  --codecs zstd,lz4,none             which codecs
  --corpora packages,documents       packages: every package.json below node_modules, each file once;
                                     documents: every .json and .map file below node_modules
  --batch 100                        records in a POST
  --posters 4                        POSTs at a time

Reads twice: as JSON from the server that took the records, and as NDJSON from one that was started after it ended.`

interface Case {
  readonly store: Store
  readonly codec: string
  readonly corpus: Corpus
  readonly batch: number
  readonly posters: number
}

/** Posts the corpus in batches; the result is the line of each sequence number. */
const post = async (run: Run, server: ServerProcess, { batch, corpus, posters }: Case) => {
  const lineOf = new Map<number, Buffer>()
  let next = 0
  const poster = async () => {
    while (next < corpus.lines.length) {
      const lines = corpus.lines.slice(next, next += batch)
      const answer = await append(server, lines)
      run.promise(answer.status === 200, `append answered ${answer.status}: ${answer.text}`)
      run.promise(answer.lastSeq - answer.firstSeq + 1 === lines.length, `append of ${lines.length}: ${answer.text}`)
      lines.forEach((line, index) => {
        const seq = answer.firstSeq + index
        run.promise(!lineOf.has(seq), `number ${seq} was given twice`)
        lineOf.set(seq, line)
      })
    }
  }
  await Promise.all(Array.from({ length: posters }, poster))
  return lineOf
}

const compareNdjson = async (server: ServerProcess, lineOf: ReadonlyMap<number, Buffer>): Promise<number> => {
  let expected = 1
  for await (const { payload, seq } of readNdjson(server, 1)) {
    if (seq !== expected) throw new Error(`NDJSON: record ${seq} where ${expected} must stand`)
    const line = lineOf.get(seq)
    if (line === undefined || !line.equals(payload)) throw new Error(`NDJSON: record ${seq} is not what was sent`)
    expected++
  }
  return expected - 1
}

const runCase = async (run: Run, folder: string, one: Case) => {
  const { codec, corpus, store } = one
  const prefix = `main-job-${process.pid}-${corpus.name}-${codec}`
  const config = writeConfig(folder, `${prefix}-${store.name}`, {})
  const configPath = writeConfig(folder, prefix, { ...store.block, compression: { type: codec } })
  const log = `${config}.log`
  const first = new ServerProcess(run, configPath, log)
  run.promise(await first.ready(), "the server did not become ready")
  const startedAt = nowMillis()
  const lineOf = await post(run, first, one)
  const postMillis = nowMillis() - startedAt
  const records = corpus.lines.length
  run.promise(await compareJson(first, (seq) => lineOf.get(seq)) === records, "JSON: records are missing")
  run.promise(await first.stop() === 0, "the server did not end with 0")
  const stored = await store.count(`${prefix}/${nodeId}/${streamId}`)
  const second = new ServerProcess(run, configPath, log)
  run.promise(await second.ready(), "the server did not become ready again")
  const readAt = nowMillis()
  run.promise(await compareNdjson(second, lineOf) === records, "NDJSON: records are missing after the restart")
  const readMillis = nowMillis() - readAt
  run.promise(await second.stop() === 0, "the second server did not end with 0")
  const ratio = Math.round(corpus.rawBytes / stored.segmentBytes * 100) / 100
  const line = [
    `${store.name.padEnd(9)} ${codec.padEnd(4)} ${corpus.name.padEnd(9)} ${grouped(records)} records`,
    `raw ${grouped(corpus.rawBytes)} B`,
    `stored ${grouped(stored.segmentBytes)} B in ${stored.segments} segments (all objects ${grouped(stored.bytes)} B)`,
    `ratio ${ratio.toFixed(2)}`,
    `post ${(postMillis / 1_000).toFixed(1)} s, read ${(readMillis / 1_000).toFixed(1)} s, equal`
  ]
  run.progress(line.join(", "))
  return {
    store: store.name,
    codec,
    corpus: corpus.name,
    records,
    rawBytes: corpus.rawBytes,
    segments: stored.segments,
    storedBytes: stored.segmentBytes,
    ratio,
    postMillis: Math.round(postMillis),
    readMillis: Math.round(readMillis)
  }
}

const corpusNames: ReadonlyArray<CorpusName> = ["packages", "documents"]

const scenario = async (run: Run, args: ReadonlyArray<string>): Promise<void> => {
  const { values } = parseArgs({
    args: [...args],
    options: {
      stores: { type: "string", default: "directory,s3" },
      codecs: { type: "string", default: "zstd,lz4,none" },
      corpora: { type: "string", default: "packages,documents" },
      batch: { type: "string", default: "100" },
      posters: { type: "string", default: "4" }
    }
  })
  const folder = workFolder(run)
  const stores = values.stores.split(",").map((name) => openStore(run, name, join(folder)))
  const wanted = values.corpora.split(",")
  const corpora = corpusNames.filter((name) => wanted.includes(name)).map(readCorpus)
  for (const { leftOut, lines, name, rawBytes } of corpora) {
    run.progress(`${name}: ${grouped(lines.length)} documents, ${grouped(rawBytes)} B; ${leftOut} files are not JSON`)
  }
  const cases: Array<unknown> = []
  run.result["cases"] = cases
  const amounts = { batch: Number(values.batch), posters: Number(values.posters) }
  for (const corpus of corpora) {
    for (const store of stores) {
      for (const codec of values.codecs.split(",")) {
        cases.push(await runCase(run, folder, { store, codec, corpus, ...amounts }))
      }
    }
  }
}

/** The scenario `main-job`. */
export const mainJob: Scenario = { help, limitSeconds, scenario }
