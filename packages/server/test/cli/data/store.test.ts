import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it } from "@effect/vitest"
import { Effect, FileSystem } from "effect"
import { chmodSync, readdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { append as appendOverHttp, call, json } from "../../support/Client.ts"
import { type Backend, cli, configured, lines, ndjson, serve, slowMillis, snapshot, startCli } from "./Cli.ts"
import { run } from "./InProcess.ts"

const configOf = (cwd: string): ReadonlyArray<string> => ["--config", `${cwd}/wal.yaml`]

/** Every command that reads. */
const readers: ReadonlyArray<ReadonlyArray<string>> = [
  ["cat"],
  ["cat", "--cursor", "default", "--on-damage", "skip"],
  ["streams"],
  ["status"],
  ["cursor", "list"],
  ["cursor", "get", "default"],
  ["inspect", "manifest"],
  ["inspect", "epochs"],
  ["inspect", "segment", "1", "0"],
  ["verify"],
  ["repair", "--dry-run"]
]

/** Every command that changes a log. */
const changers: ReadonlyArray<ReadonlyArray<string>> = [
  ["append"],
  ["cursor", "set", "billing", "1"],
  ["cursor", "remove", "billing"],
  ["flush"],
  ["trim", "0"]
]

/** Runs them one after the other, each to a good end. */
const runAll = (cwd: string, commands: ReadonlyArray<ReadonlyArray<string>>) =>
  Effect.forEach(commands, (args) =>
    Effect.map(run([...args, ...configOf(cwd)]), (outcome) => {
      assert.strictEqual(outcome.code, 0, `${args.join(" ")}: ${outcome.err}`)
      assert.notStrictEqual(outcome.text, "", args.join(" "))
      return outcome
    }))

/** A server that is stopped again, with three records. */
const stoppedServer = Effect.fnUntraced(function*(backend: Backend) {
  const cwd = yield* configured(backend)
  const { program, url } = yield* serve(cwd)
  yield* run(["append", "--url", url], ndjson(1, 3))
  program.kill("SIGTERM")
  assert.strictEqual(yield* program.ended, 0)
  return cwd
})

describe("on a directory store with a live writer", () => {
  it.live("reading commands change no byte, and the writer goes on", () =>
    Effect.gen(function*() {
      const cwd = yield* configured("directory")
      const { port } = yield* serve(cwd)
      yield* appendOverHttp(port, "application/x-ndjson", ndjson(1, 3))
      yield* call(port, "/v1/streams/orders/flush", { method: "POST" })
      const before = snapshot(join(cwd, "store"))
      const [cat, , , status] = yield* runAll(cwd, readers)
      assert.strictEqual(lines(cat?.text ?? "").length, 3)
      assert.match(status?.text ?? "", /^durable to +3$/m)
      assert.deepStrictEqual(snapshot(join(cwd, "store")), before)
      assert.deepInclude(json(yield* appendOverHttp(port, "application/x-ndjson", "4\n")), { first_seq: 4, epoch: 1 })
      assert.strictEqual(json(yield* call(port, "/v1/streams/orders")).state, "open")
    }).pipe(Effect.provide(NodeServices.layer)), slowMillis)

  it.live(
    "changing commands are refused and change no byte; --take-over fences the writer, and says where it ended",
    () =>
      Effect.gen(function*() {
        const cwd = yield* configured("directory")
        const { port } = yield* serve(cwd)
        yield* appendOverHttp(port, "application/x-ndjson", ndjson(1, 3))
        yield* call(port, "/v1/streams/orders/flush", { method: "POST" })
        const before = snapshot(join(cwd, "store"))
        for (const args of changers) {
          const refused = yield* run([...args, ...configOf(cwd)], "4\n")
          assert.strictEqual(refused.code, 5, `${args.join(" ")}: ${refused.err}`)
          assert.include(refused.err, "may have a live writer")
          assert.include(refused.err, "looks the same")
        }
        assert.deepStrictEqual(snapshot(join(cwd, "store")), before)
        const taken = yield* run(["append", ...configOf(cwd), "--take-over", "--json"], "4\n")
        assert.strictEqual(taken.code, 0, taken.err)
        assert.deepInclude(JSON.parse(taken.text), { first_seq: 4, epoch: 2 })
        const fenced = yield* appendOverHttp(port, "application/x-ndjson", "5\n")
        assert.deepStrictEqual([fenced.status, json(fenced).error.code], [409, "fenced"])
        assert.include(json(fenced).error.message, "effect-wal append, process ")
      }).pipe(Effect.provide(NodeServices.layer)),
    slowMillis
  )
})

describe("on a store whose server was stopped", () => {
  it.live(
    "the first change takes a word, those after it do not: the last writer was a command that has ended",
    () =>
      Effect.gen(function*() {
        const cwd = yield* stoppedServer("directory")
        assert.strictEqual((yield* run(["append", ...configOf(cwd)], "4\n")).code, 5)
        const first = yield* cli(["append", ...configOf(cwd), "--take-over"], { cwd, input: "4\n" })
        assert.strictEqual(first.code, 0, first.err)
        const second = yield* cli(["append", ...configOf(cwd)], { cwd, input: "5\n" })
        assert.strictEqual(second.code, 0, second.err)
        const set = yield* cli(["cursor", "set", "billing", "5", ...configOf(cwd), "--json"], { cwd })
        assert.deepInclude(JSON.parse(set.text), { name: "billing", seq: 5, persisted: 5, lag: 0 })
        assert.deepInclude(JSON.parse((yield* run(["flush", ...configOf(cwd), "--json"])).text), { durable: 5 })
        assert.strictEqual(lines((yield* run(["cat", ...configOf(cwd)])).text).length, 5)
        yield* runAll(cwd, [["verify"]])
      }).pipe(Effect.provide(NodeServices.layer)),
    slowMillis
  )

  it.live("a command that still runs is a live writer", () =>
    Effect.gen(function*() {
      const cwd = yield* configured("directory")
      const running = yield* startCli(["append", ...configOf(cwd)], { cwd })
      running.write("1\n")
      yield* untilStored(cwd)
      const refused = yield* run(["append", ...configOf(cwd)], "2\n")
      assert.strictEqual(refused.code, 5)
      assert.include(refused.err, "(effect-wal append, process ")
      running.endInput()
      assert.strictEqual(yield* running.ended, 0)
      const next = yield* run(["append", ...configOf(cwd), "--json"], "2\n")
      assert.deepInclude(JSON.parse(next.text), { first_seq: 2 })
    }).pipe(Effect.provide(NodeServices.layer)), slowMillis)

  it.live("append --raw says which files are left where one is refused", () =>
    Effect.gen(function*() {
      const cwd = yield* configured("directory")
      const fs = yield* FileSystem.FileSystem
      const [small, large] = [`${cwd}/small`, `${cwd}/large`]
      yield* fs.writeFileString(small, "a")
      yield* fs.writeFile(large, new Uint8Array(17_000_000))
      const refused = yield* run(["append", "--raw", small, large, ...configOf(cwd)])
      assert.strictEqual(refused.code, 2, refused.err)
      assert.include(refused.err, `1 record is durable, up to line 1 of ${small}`)
      assert.include(refused.err, `Go on with the files from ${large} on again.`)
    }).pipe(Effect.provide(NodeServices.layer)), slowMillis)

  it.live("a path that was mistyped is an error, and nothing is made there", () =>
    Effect.gen(function*() {
      const cwd = yield* configured("directory")
      for (const args of [["cat"], ["status", "--stream", "orders"], ["verify"], ["inspect", "manifest"]]) {
        const outcome = yield* run([...args, ...configOf(cwd)])
        assert.strictEqual(outcome.code, 3, outcome.err)
      }
      // Of all streams: one that has no log yet is no failure.
      const all = yield* run(["status", ...configOf(cwd), "--json"])
      assert.deepInclude(JSON.parse(all.text), { state: "absent" })
      assert.strictEqual(all.code, 0)
      const [, ...changes] = changers
      for (const args of changes) {
        const refused = yield* run([...args, ...configOf(cwd), "--take-over", "--json"])
        assert.deepStrictEqual([refused.code, JSON.parse(refused.err).error.code], [3, "log_not_found"], refused.err)
      }
      assert.deepStrictEqual(readdirSync(cwd), ["wal.yaml"])
      // The same where the store is there, and the log is mistyped.
      yield* run(["append", ...configOf(cwd)], "1\n")
      const fs = yield* FileSystem.FileSystem
      const text = yield* fs.readFileString(`${cwd}/wal.yaml`)
      yield* fs.writeFileString(`${cwd}/wal.yaml`, text.replace("node_id: n", "node_id: m"))
      for (const args of changes) {
        const refused = yield* run([...args, ...configOf(cwd)])
        assert.strictEqual(refused.code, 3, refused.err)
      }
      assert.notInclude(readdirSync(join(cwd, "store")), "m")
    }).pipe(Effect.provide(NodeServices.layer)), slowMillis)
})

/** Until the log of the running command holds a segment. */
const untilStored = (cwd: string): Effect.Effect<void> =>
  Effect.flatMap(
    run(["status", ...configOf(cwd), "--json"]),
    ({ text }) => text !== "" && JSON.parse(text).durable === 1 ? Effect.void : Effect.suspend(() => untilStored(cwd))
  )

describe("on a local log", () => {
  it.live("that was never made a change makes none", () =>
    Effect.gen(function*() {
      const cwd = yield* configured("local")
      const refused = yield* run(["flush", ...configOf(cwd)])
      assert.strictEqual(refused.code, 3, refused.err)
      assert.deepStrictEqual(readdirSync(cwd), ["wal.yaml"])
    }).pipe(Effect.provide(NodeServices.layer)), slowMillis)

  it.live(
    "while a server has it, commands that have --url say to use it, the others to stop the server",
    () =>
      Effect.gen(function*() {
        const cwd = yield* configured("local")
        const { port } = yield* serve(cwd)
        yield* appendOverHttp(port, "application/x-ndjson", "1\n")
        for (const args of [["cat"], ["append"], ["append", "--take-over"]]) {
          const refused = yield* run([...args, ...configOf(cwd)], "2\n")
          assert.strictEqual(refused.code, 5, `${args.join(" ")}: ${refused.err}`)
          assert.include(refused.err, "through that server with `--url`")
        }
        for (const args of [["verify"], ["inspect", "manifest"], ["inspect", "epochs"], ["repair", "--dry-run"]]) {
          const refused = yield* run([...args, ...configOf(cwd)])
          assert.strictEqual(refused.code, 5, `${args.join(" ")}: ${refused.err}`)
          assert.notInclude(refused.err, "--url")
          assert.include(refused.err, "Stop the process that has it open")
        }
        for (const args of [["status"], ["streams"]]) {
          const shown = yield* run([...args, ...configOf(cwd), "--json"])
          assert.strictEqual(shown.code, 5, args.join(" "))
          assert.deepInclude(JSON.parse(shown.text), { id: "orders", state: "refused" })
        }
        assert.strictEqual((yield* appendOverHttp(port, "application/x-ndjson", "2\n")).status, 200)
      }).pipe(Effect.provide(NodeServices.layer)),
    slowMillis
  )

  it.live(
    "that nobody has open reading commands change no byte, and writing needs no word",
    () =>
      Effect.gen(function*() {
        const cwd = yield* stoppedServer("local")
        const before = snapshot(join(cwd, "store"))
        const [cat] = yield* runAll(cwd, readers)
        assert.strictEqual(lines(cat?.text ?? "").length, 3)
        assert.deepStrictEqual(snapshot(join(cwd, "store")), before)
        const appended = yield* run(["append", ...configOf(cwd), "--json"], "4\n")
        assert.deepInclude(JSON.parse(appended.text), { first_seq: 4 })
        const tail = yield* run(["tail", ...configOf(cwd)])
        assert.strictEqual(tail.code, 2)
        assert.include(tail.err, "--url")
      }).pipe(Effect.provide(NodeServices.layer)),
    slowMillis
  )

  it.live("that was killed is read as it was left, torn end and all", () =>
    Effect.gen(function*() {
      const cwd = yield* configured("local")
      const { port, program } = yield* serve(cwd)
      yield* appendOverHttp(port, "application/x-ndjson", ndjson(1, 3))
      program.kill("SIGKILL")
      yield* program.ended
      const journal = join(cwd, "store/n/orders/~journal")
      const file = readdirSync(journal).filter((name) => /\d/.test(name)).toSorted().at(-1) ?? ""
      writeFileSync(join(journal, file), "half of a fra", { flag: "a" })
      const before = snapshot(join(cwd, "store"))
      assert.strictEqual(lines((yield* run(["cat", ...configOf(cwd)])).text).length, 3)
      assert.deepStrictEqual(snapshot(join(cwd, "store")), before)
    }).pipe(Effect.provide(NodeServices.layer)), slowMillis)
})

describe("verify and repair", () => {
  it.live(
    "tell damage with a code of its own, show the plan first, and mend it on the operator's word",
    () =>
      Effect.gen(function*() {
        const cwd = yield* configured("directory")
        const fs = yield* FileSystem.FileSystem
        for (const line of ["1\n", "2\n", "3\n"]) {
          assert.strictEqual((yield* run(["append", ...configOf(cwd), "--take-over"], line)).code, 0)
        }
        const key = "n/orders/segments/0000000002/000000000000.seg"
        const path = join(cwd, "store", key)
        const bytes = yield* fs.readFile(path)
        chmodSync(path, 0o644)
        yield* fs.writeFile(path, bytes.map((byte, index) => index === bytes.length - 1 ? byte ^ 0xff : byte))
        const found = yield* run(["verify", ...configOf(cwd), "--json"])
        assert.strictEqual(found.code, 4, found.err)
        const [finding, report] = lines(found.text).map((line) => JSON.parse(line))
        assert.deepInclude(finding.finding, { kind: "segment-corrupt", key, lost: { from: 2, to: 2, exact: true } })
        assert.deepInclude(report, { intact: false, findings: 1 })
        const cat = yield* run(["cat", ...configOf(cwd)])
        assert.strictEqual(cat.code, 4)
        const skipped = yield* run(["cat", ...configOf(cwd), "--on-damage", "skip", "--raw"])
        assert.deepStrictEqual([skipped.code, skipped.text], [0, "1\n3\n"])
        assert.include(skipped.err, "records 2 to 2 are lost")
        const before = snapshot(join(cwd, "store"))
        const dry = yield* run(["repair", ...configOf(cwd), "--dry-run"])
        assert.strictEqual(dry.code, 0, dry.err)
        assert.include(dry.text, "will replace n/orders/manifest.json")
        const unsaid = yield* run(["repair", ...configOf(cwd)])
        // The plan first; each plan has an id of its own.
        assert.deepStrictEqual([unsaid.code, withoutId(unsaid.text)], [2, withoutId(dry.text)])
        assert.include(unsaid.err, "--no-writer-runs")
        assert.deepStrictEqual(snapshot(join(cwd, "store")), before)
        const done = yield* run(["repair", ...configOf(cwd), "--no-writer-runs"])
        assert.strictEqual(done.code, 0, done.err)
        const after = yield* run(["verify", ...configOf(cwd), "--json"])
        assert.strictEqual(after.code, 0, after.text)
        assert.deepInclude(JSON.parse(lines(after.text).at(-1) ?? ""), { intact: true, known_findings: 1 })
      }).pipe(Effect.provide(NodeServices.layer)),
    slowMillis
  )
})

const withoutId = (text: string): string => text.replaceAll(/repair\/[0-9a-f]+\//g, "repair/")
