/** The example configurations as they are shipped, and the real program on them. */
import type { RealS3 } from "@effect-wal/testing/RealS3"
import { assert } from "@effect/vitest"
import { Effect, FileSystem, Redacted } from "effect"
import { readdirSync, readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { append, call, json } from "../support/Client.ts"
import { startProgram } from "../support/Process.ts"

/** Where the examples lie. */
export const directory = fileURLToPath(new URL("../../../../examples/", import.meta.url))

/** The names of all example configurations, without their suffix. */
export const names: ReadonlyArray<string> = readdirSync(directory)
  .filter((file) => file.endsWith(".yaml"))
  .map((file) => file.slice(0, -".yaml".length))
  .toSorted()

/** The one that needs no store. */
export const local = "durability_example"

/** Those on S3. */
export const onS3: ReadonlyArray<string> = names.filter((name) => name !== local)

/** The path of an example. */
export const pathOf = (name: string): string => `${directory}${name}.yaml`

/** The text of an example. */
export const textOf = (name: string): string => readFileSync(pathOf(name), "utf8")

/** The id of its one stream. */
export const streamOf = (name: string): string => name === "durability_smoke_test" ? "smoke" : "main"

/** What stands in the place of a store where none is asked. */
export const nowhere: RealS3 = {
  endpoint: "http://127.0.0.1:1",
  region: "us-east-1",
  bucket: "my-bucket",
  forcePathStyle: true,
  credentials: { accessKeyId: "some-access-key", secretAccessKey: Redacted.make("some-secret-key") }
}

/** The variables that the examples want, for a store; one log for each `prefix`. */
export const environmentOf = (store: RealS3, prefix = "wal"): Readonly<Record<string, string>> => ({
  S3_ENDPOINT: store.endpoint,
  S3_BUCKET: store.bucket,
  AWS_REGION: store.region,
  AWS_ACCESS_KEY_ID: store.credentials.accessKeyId,
  AWS_SECRET_ACCESS_KEY: Redacted.value(store.credentials.secretAccessKey),
  NODE_ID: "node-0",
  WAL_PREFIX: prefix
})

/** A directory for one test. */
export const temporary = Effect.flatMap(FileSystem.FileSystem, (fs) => fs.makeTempDirectoryScoped())

/** Where an example runs. */
export interface Place {
  readonly cwd: string
  readonly env: Readonly<Record<string, string>>
}

const ndjson = "application/x-ndjson"

/** `effect-wal serve --config` on an example, its log open. */
export const serve = Effect.fnUntraced(function*(name: string, { cwd, env }: Place) {
  const program = yield* startProgram({ args: ["serve", "--config", pathOf(name), "--port", "0"], cwd, env })
  const stream = streamOf(name)
  const port = yield* program.portOnce(`log ${stream} open`)
  const records = `/v1/streams/${stream}/records`
  return {
    program,
    port,
    /** Appends lines; `query` is `?ack=accepted` where nobody is to wait for durability. */
    append: (lines: ReadonlyArray<string>, query = "") =>
      Effect.map(append(port, ndjson, lines.map((line) => `${line}\n`).join(""), query, stream), json),
    /** The lines of all records from a number on. */
    read: (from: number, count: number) =>
      Effect.map(
        call(port, `${records}?from=${from}&limit=${count}`),
        (answer) =>
          json(answer).records.map((record: { readonly payload: unknown }): string => JSON.stringify(record.payload))
      ),
    flush: call(port, `/v1/streams/${stream}/flush`, { method: "POST" }),
    status: Effect.map(call(port, `/v1/streams/${stream}`), json)
  }
})

/** A server on an example. */
export type Serving = Effect.Success<ReturnType<typeof serve>>

/** Lines of JSON that look alike, as records of one source do. */
export const linesOf = (from: number, count: number): ReadonlyArray<string> =>
  Array.from(
    { length: count },
    (_, index) => JSON.stringify({ order: from + index, state: "paid", text: "a cup of tea ".repeat(20) })
  )

/**
 * Feeds the empty log of an example 200 records, reads them back, kills the process, starts it again, reads them back again
 * and appends one more. Answers the running server.
 */
export const restarted = Effect.fnUntraced(function*(name: string, place: Place) {
  const lines = linesOf(1, 200)
  const first = yield* serve(name, place)
  assert.deepStrictEqual(yield* first.append(lines), {
    first_seq: 1,
    last_seq: 200,
    count: 200,
    epoch: 1,
    ack: "durable"
  })
  assert.deepStrictEqual(yield* first.read(1, 1_000), lines)
  first.program.kill("SIGKILL")
  assert.strictEqual(yield* first.program.ended, "SIGKILL")
  const second = yield* serve(name, place)
  assert.deepStrictEqual(yield* second.read(1, 1_000), lines)
  assert.deepInclude(yield* second.append(["\"one more\""]), { first_seq: 201, epoch: 2, ack: "durable" })
  assert.deepStrictEqual(yield* second.read(201, 1_000), ["\"one more\""])
  return second
})

/** Stops a server whose log has so many records: all of them are stored, and it says so. */
export const stop = Effect.fnUntraced(function*({ program }: Serving, name: string, records: number) {
  program.kill("SIGTERM")
  assert.strictEqual(yield* program.ended, 0, program.output())
  assert.include(program.output(), `stream ${streamOf(name)}: durable to ${records}, nothing left`)
})
