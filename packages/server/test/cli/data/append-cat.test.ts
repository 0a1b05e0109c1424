import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it } from "@effect/vitest"
import { Effect, FileSystem } from "effect"
import { execFileSync } from "node:child_process"
import { randomBytes } from "node:crypto"
import { cli, configured, lines, main, ndjson, parsed, serve, slowMillis } from "./Cli.ts"
import { run } from "./InProcess.ts"

/** What NDJSON has to keep: number forms, blanks, escapes, text beyond ASCII. */
const difficult = ["{\"a\":1.10,\"b\":9007199254740993}", "  [1, 2]", "\"caf\\u00e9 é\u2028\"", "null"]

const server = Effect.fnUntraced(function*(ids?: ReadonlyArray<string>) {
  const cwd = yield* configured("directory", ids)
  const { url } = yield* serve(cwd, ids === undefined ? {} : { ids })
  return { cwd, url }
})

describe("append and cat, through a server", () => {
  it.live("keep the bytes of every line, as processes of their own", () =>
    Effect.gen(function*() {
      const { cwd, url } = yield* server()
      const input = `\uFEFF${difficult[0]}\r\n\n${difficult.slice(1).join("\n")}`
      const appended = yield* cli(["append", "--url", url, "--json"], { cwd, input })
      assert.strictEqual(appended.code, 0, appended.err)
      const place = { stream: "orders", records: 4, first_seq: 1, last_seq: 4, file: "stdin", line: 5 }
      assert.deepInclude(JSON.parse(appended.text), place)
      const raw = yield* run(["cat", "--url", url, "--raw"])
      assert.deepStrictEqual(lines(raw.text), difficult)
      const cat = yield* cli(["cat", "--url", url], { cwd })
      assert.match(
        lines(cat.text)[0] ?? "",
        /^\{"seq":1,"appended_at":\d+,"payload":\{"a":1\.10,"b":9007199254740993\}\}$/
      )
    }).pipe(Effect.provide(NodeServices.layer)), slowMillis)

  it.live("take a file as one record, and give it back", () =>
    Effect.gen(function*() {
      const { cwd, url } = yield* server()
      const fs = yield* FileSystem.FileSystem
      const bytes = randomBytes(300_000)
      yield* fs.writeFile(`${cwd}/blob`, bytes)
      const appended = yield* run(["append", "--url", url, "--raw", `${cwd}/blob`, "-"], "two\nlines")
      assert.strictEqual(appended.code, 0, appended.err)
      const first = yield* run(["cat", "--url", url, "--raw", "--limit", "1", "--delimiter", ""])
      assert.isTrue(first.out.equals(bytes))
      const second = yield* run(["cat", "--url", url, "--raw", "--from", "2", "--delimiter", "\\0"])
      assert.strictEqual(second.text, "two\nlines\0")
    }).pipe(Effect.provide(NodeServices.layer)), slowMillis)

  it.live("start where a flag says: a number, a time, a cursor, so many before the end", () =>
    Effect.gen(function*() {
      const { url } = yield* server()
      yield* run(["append", "--url", url], ndjson(1, 5))
      yield* run(["cursor", "set", "--url", url, "billing", "3"])
      const read = (...args: ReadonlyArray<string>) =>
        Effect.map(run(["cat", "--url", url, ...args]), (outcome) => {
          assert.strictEqual(outcome.code, 0, outcome.err)
          return parsed(outcome.text).map(({ seq }): number => seq)
        })
      const [first] = parsed((yield* run(["cat", "--url", url, "--limit", "1"])).text)
      assert.deepStrictEqual(yield* read(), [1, 2, 3, 4, 5])
      assert.deepStrictEqual(yield* read("--from", "4"), [4, 5])
      assert.deepStrictEqual(yield* read("--cursor", "billing"), [4, 5])
      assert.deepStrictEqual(yield* read("-n", "2"), [4, 5])
      assert.deepStrictEqual(yield* read("--since", "1h", "--limit", "2"), [1, 2])
      assert.deepStrictEqual(yield* read("--since", String(first.appended_at)), [1, 2, 3, 4, 5])
      assert.deepStrictEqual(yield* read("--since", new Date(first.appended_at + 3_600_000).toISOString()), [])
      const both = yield* run(["cat", "--url", url, "--from", "1", "--last", "1"])
      assert.deepStrictEqual([both.code, both.text], [2, ""])
      const unknown = yield* run(["cat", "--url", url, "--cursor", "nobody"])
      assert.strictEqual(unknown.code, 3)
    }).pipe(Effect.provide(NodeServices.layer)), slowMillis)

  it.live(
    "stop at a line that is not JSON: what stands before it is stored, and it says where to go on",
    () =>
      Effect.gen(function*() {
        const { cwd, url } = yield* server()
        const fs = yield* FileSystem.FileSystem
        const [a, b] = [`${cwd}/a.ndjson`, `${cwd}/b.ndjson`]
        yield* fs.writeFileString(a, ndjson(1, 2))
        yield* fs.writeFileString(b, "{\"n\":3}\n\nnot json\n{\"n\":4}\n")
        const stopped = yield* run(["append", "--url", url, a, b])
        assert.strictEqual(stopped.code, 2)
        assert.include(stopped.err, `${b}, line 3: not JSON`)
        assert.include(stopped.err, `3 records are durable, up to line 1 of ${b} (numbers 1 to 3)`)
        assert.include(stopped.err, `the files from ${b} on and --from-line 2`)
        yield* fs.writeFileString(b, "{\"n\":3}\n\n{\"n\":3.5}\n{\"n\":4}\n")
        const on = yield* run(["append", "--url", url, "--from-line", "2", b])
        assert.strictEqual(on.code, 0, on.err)
        const cat = yield* run(["cat", "--url", url, "--raw"])
        assert.deepStrictEqual(lines(cat.text), ["{\"n\":1}", "{\"n\":2}", "{\"n\":3}", "{\"n\":3.5}", "{\"n\":4}"])
        const failure = JSON.parse((yield* run(["append", "--url", url, "--json"], "1\n]\n")).err)
        assert.deepInclude(failure.error, { code: "invalid_json", exit_code: 2 })
        assert.deepInclude(failure.error.details, { records: 1, through: { file: "stdin", line: 1 }, unsure: null })
      }).pipe(Effect.provide(NodeServices.layer)),
    slowMillis
  )

  it.live("read as much as is wanted, also where the server's pages are smaller", () =>
    Effect.gen(function*() {
      const cwd = yield* configured("directory", ["orders"], "port: 0, limits: { max_page_records: 2 }")
      const { url } = yield* serve(cwd)
      yield* run(["append", "--url", url], ndjson(1, 7))
      for (const limit of [1, 2, 5, 5_000]) {
        for (const damage of ["fail", "skip"]) {
          const cat = yield* run(["cat", "--url", url, "--from", "2", "--limit", String(limit), "--on-damage", damage])
          assert.strictEqual(cat.code, 0, cat.err)
          assert.deepStrictEqual(parsed(cat.text).map(({ seq }) => seq), [2, 3, 4, 5, 6, 7].slice(0, limit))
        }
      }
    }).pipe(Effect.provide(NodeServices.layer)), slowMillis)

  it.live("with a key append the same input once, however often it is sent", () =>
    Effect.gen(function*() {
      const { url } = yield* server()
      const args = ["append", "--url", url, "--json", "--idempotency-key", "import", "--batch-records", "4"]
      const first = JSON.parse((yield* run(args, ndjson(1, 10))).text)
      assert.deepInclude(first, { records: 10, batches: 3, repeated: 0, last_seq: 10 })
      // The third batch has become longer: it is another call of the same name.
      const longer = yield* run(args, ndjson(1, 12))
      assert.strictEqual(longer.code, 1, longer.err)
      const { details } = JSON.parse(longer.err).error
      assert.deepInclude(details, { records: 8, through: { file: "stdin", line: 8 }, unsure: null })
      assert.include(JSON.parse(longer.err).error.next, "`effect-wal cat --from 9 --limit 2`")
      assert.include(JSON.parse(longer.err).error.next, "same command and key with `--from-line 11`")
      const again = JSON.parse((yield* run(args, ndjson(1, 10))).text)
      assert.deepInclude(again, { records: 10, repeated: 10, last_seq: 10 })
      const other = JSON.parse((yield* run(args, ndjson(5, 14))).err)
      assert.strictEqual(other.error.code, "producer_conflict")
      const on = JSON.parse((yield* run([...args, "--from-line", "5"], ndjson(1, 8))).text)
      assert.deepInclude(on, { records: 4, repeated: 4 })
      // As it was advised: the longer input is stored once.
      const rest = JSON.parse((yield* run([...args, "--from-line", "11"], ndjson(1, 12))).text)
      assert.deepInclude(rest, { records: 2, repeated: 0, first_seq: 11, last_seq: 12 })
    }).pipe(Effect.provide(NodeServices.layer)), slowMillis)

  it.live("end quietly when their reader has gone", () =>
    Effect.gen(function*() {
      const { url } = yield* server()
      yield* run(["append", "--url", url], ndjson(1, 50_000))
      const script = `"${process.execPath}" "${main}" cat --url ${url} | head -n 1; echo "$` + "{PIPESTATUS[0]}\""
      const output = execFileSync("bash", ["-c", script], { encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] })
      assert.match(output, /^\{"seq":1,.*\n0\n$/)
    }).pipe(Effect.provide(NodeServices.layer)), slowMillis)

  it.live("want to know which stream where there are several, and take the only one", () =>
    Effect.gen(function*() {
      const { url } = yield* server(["a", "b"])
      const unnamed = yield* run(["append", "--url", url], "1\n")
      assert.strictEqual(unnamed.code, 2)
      assert.include(unnamed.err, "several streams: a, b")
      assert.strictEqual((yield* run(["append", "--url", url, "--stream", "b"], "1\n")).code, 0)
      const unknown = yield* run(["append", "--url", url, "--stream", "c"], "1\n")
      assert.strictEqual(unknown.code, 3)
      const streams = yield* run(["streams", "--url", url])
      assert.match(lines(streams.text)[2] ?? "", /^b\s+open\s+1\s+1\s/)
      assert.deepStrictEqual(
        parsed((yield* run(["streams", "--url", url, "--json"])).text).map(({ durable, id }) => [id, durable]),
        [["a", 0], ["b", 1]]
      )
    }).pipe(Effect.provide(NodeServices.layer)), slowMillis)
})

describe("cursor, flush, trim and status, through a server", () => {
  it.live("do what the API does", () =>
    Effect.gen(function*() {
      const { url } = yield* server()
      const call = (...args: ReadonlyArray<string>) => run([...args, "--url", url, "--json"], ndjson(1, 3))
      yield* call("append")
      const set = yield* call("cursor", "set", "billing", "2")
      assert.deepInclude(JSON.parse(set.text), { name: "billing", seq: 2, lag: 1 })
      assert.deepInclude(JSON.parse((yield* call("cursor", "get", "billing")).text), { seq: 2 })
      const list = parsed((yield* call("cursor", "list")).text)
      assert.deepStrictEqual(list.map(({ name }) => name), ["billing", "default"])
      const beyond = yield* call("cursor", "set", "billing", "4")
      assert.strictEqual(beyond.code, 1)
      assert.strictEqual(JSON.parse(beyond.err).error.code, "commit_beyond_durable")
      assert.strictEqual((yield* call("cursor", "remove", "billing")).code, 0)
      assert.strictEqual((yield* call("cursor", "get", "billing")).code, 3)
      assert.deepStrictEqual(JSON.parse((yield* call("flush")).text), { stream: "orders", durable: 3 })
      assert.deepStrictEqual(JSON.parse((yield* call("trim", "2")).text), { stream: "orders", trimmed_to: 0 })
      assert.deepInclude(JSON.parse((yield* call("status")).text), { id: "orders", state: "open", durable: 3 })
      const human = yield* run(["status", "--url", url])
      assert.match(human.text, /^durable to +3$/m)
      assert.match(human.text, /^default +0 +0 +3$/m)
    }).pipe(Effect.provide(NodeServices.layer)), slowMillis)
})
