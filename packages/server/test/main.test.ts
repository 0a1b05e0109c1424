import { errorAnswer } from "@effect-wal/testing/HttpS3Action"
import { type DoubleS3Options, make as makeDouble } from "@effect-wal/testing/HttpS3Double"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it } from "@effect/vitest"
import { Effect, FileSystem, Redacted } from "effect"
import { execFileSync } from "node:child_process"
import { readFileSync } from "node:fs"
import { version } from "../src/Version.ts"
import { append, call, json } from "./support/Client.ts"
import { startProgram } from "./support/Process.ts"

const ndjson = "application/x-ndjson"

const temporary = Effect.flatMap(FileSystem.FileSystem, (fs) => fs.makeTempDirectoryScoped())

const config = (streams: string) => `server:\n  port: 0\n  shutdown_timeout: 3s\nstreams:\n${streams}`

const s3Stream = ({ bucket, credentials, endpoint }: DoubleS3Options) => `
  - id: orders
    durability:
      backend:
        type: object_store
        node_id: node-0
        stream_id: orders
        s3:
          bucket: ${bucket}
          endpoint: ${endpoint}
          access_key_id: ${credentials.accessKeyId}
          secret_access_key: ${Redacted.value(credentials.secretAccessKey)}
`

describe("the program", () => {
  it.live("without a configuration keeps one stream in ./data, and prints three commands that work as printed", () =>
    Effect.gen(function*() {
      const cwd = yield* temporary
      const program = yield* startProgram({ args: ["--port", "0"], cwd })
      yield* program.until("log main open")
      const commands = program.output().split("\n").filter((line) => line.startsWith("  curl "))
      assert.strictEqual(commands.length, 3)
      const [appended = "", read = "", status = ""] = commands.map((line) =>
        execFileSync("/bin/sh", ["-c", line], { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] })
      )
      assert.deepStrictEqual(JSON.parse(appended), { first_seq: 1, last_seq: 1, count: 1, epoch: 1, ack: "durable" })
      assert.deepStrictEqual(JSON.parse(read).records[0].payload, { hello: "world" })
      assert.strictEqual(JSON.parse(status).durable, 1)
      assert.isTrue(yield* Effect.flatMap(FileSystem.FileSystem, (fs) => fs.exists(`${cwd}/data/node-0/main`)))
      program.kill("SIGTERM")
      assert.strictEqual(yield* program.ended, 0)
      assert.include(program.output(), "stream main: durable to 1, nothing left")
    }).pipe(Effect.provide(NodeServices.layer)))

  it("runs for a user without a home, who has a bare number in a container", () => {
    const noHome = "import os from 'node:os'; import { syncBuiltinESMExports } from 'node:module';" +
      "os.homedir = () => { throw new Error('no entry') }; syncBuiltinESMExports()"
    const main = new URL("../src/main.ts", import.meta.url).pathname
    const args = ["--import", `data:text/javascript,${encodeURIComponent(noHome)}`, main, "--version"]
    assert.include(execFileSync(process.execPath, args, { encoding: "utf8" }), version)
  })

  it.live("finds after kill -9 and a restart what was answered before", () =>
    Effect.gen(function*() {
      const cwd = yield* temporary
      const first = yield* startProgram({ args: ["--port", "0"], cwd })
      const port = yield* first.portOnce("log main open")
      assert.strictEqual((yield* append(port, ndjson, "1\n2\n", "", "main")).status, 200)
      first.kill("SIGKILL")
      assert.strictEqual(yield* first.ended, "SIGKILL")
      const second = yield* startProgram({ args: ["serve", "--port", "0"], cwd })
      const again = yield* second.portOnce("log main open")
      assert.deepInclude(json(yield* append(again, ndjson, "3\n", "", "main")), { first_seq: 3, epoch: 2 })
    }).pipe(Effect.provide(NodeServices.layer)))

  it.live("[case 26] SIGTERM with a store that is down: the exact range is printed, and the code says that records were left", () =>
    Effect.gen(function*() {
      const cwd = yield* temporary
      const double = yield* makeDouble()
      const fs = yield* FileSystem.FileSystem
      yield* fs.writeFileString(`${cwd}/wal.yaml`, config(s3Stream(double.s3Options)))
      const program = yield* startProgram({ args: ["--config", "wal.yaml"], cwd })
      const port = yield* program.portOnce("log orders open")
      assert.strictEqual((yield* append(port, ndjson, "1\n2\n")).status, 200)
      double.rule((request) => request.key.includes("/segments/") ? errorAnswer(503, "SlowDown") : undefined)
      assert.strictEqual((yield* append(port, ndjson, "3\n4\n5\n", "?ack=accepted")).status, 200)
      program.kill("SIGTERM")
      assert.strictEqual(yield* program.ended, 75)
      assert.include(program.output(), "stream orders: durable to 2, NOT STORED: records 3 to 5 (3)")
    }).pipe(Effect.provide(NodeServices.layer)))

  it.live("[case 26] a second signal ends it at once", () =>
    Effect.gen(function*() {
      const cwd = yield* temporary
      const fs = yield* FileSystem.FileSystem
      yield* fs.writeFileString(
        `${cwd}/wal.yaml`,
        "server: { port: 0, drain_delay: 59m, shutdown_timeout: 1h }\n" +
          "streams: [{ durability: { backend: { type: object_store, node_id: n, stream_id: a, directory: { path: d } } } }]\n"
      )
      const program = yield* startProgram({ cwd, env: { EFFECT_WAL_CONFIG: "wal.yaml" } })
      yield* program.until("log a open")
      program.kill("SIGTERM")
      yield* program.until("shutting down")
      program.kill("SIGTERM")
      assert.strictEqual(yield* program.ended, 143)
    }).pipe(Effect.provide(NodeServices.layer)))

  it.live("reads its tokens again at SIGHUP, and keeps the old ones when it cannot", () =>
    Effect.gen(function*() {
      const cwd = yield* temporary
      const fs = yield* FileSystem.FileSystem
      yield* fs.writeFileString(`${cwd}/token`, "first")
      yield* fs.writeFileString(
        `${cwd}/wal.yaml`,
        "server: { port: 0, tokens: [{ id: t, file: token, scopes: [read] }] }\n" +
          "streams: [{ durability: { backend: { type: object_store, node_id: n, stream_id: a, directory: { path: d } } } }]\n"
      )
      const program = yield* startProgram({ args: ["--config", "wal.yaml"], cwd })
      const port = yield* program.portOnce("log a open")
      const status = (token: string) =>
        Effect.map(call(port, "/v1/streams/a", { headers: { authorization: `Bearer ${token}` } }), (answer) =>
          answer.status)
      assert.deepStrictEqual([yield* status("first"), yield* status("second")], [200, 401])
      yield* fs.writeFileString(`${cwd}/token`, "second")
      program.kill("SIGHUP")
      yield* program.until("the tokens were read again")
      assert.deepStrictEqual([yield* status("first"), yield* status("second")], [401, 200])
      yield* fs.writeFileString(`${cwd}/token`, "")
      program.kill("SIGHUP")
      yield* program.until("the tokens stay as they were")
      assert.strictEqual(yield* status("second"), 200)
    }).pipe(Effect.provide(NodeServices.layer)))

  it.live("speaks of the address that a flag names, not of the file's", () =>
    Effect.gen(function*() {
      const cwd = yield* temporary
      const fs = yield* FileSystem.FileSystem
      yield* fs.writeFileString(
        `${cwd}/wal.yaml`,
        "server: { host: 0.0.0.0, port: 0, tokens: [{ id: t, env: THE_TOKEN, scopes: [read] }] }\n" +
          "streams: [{ durability: { backend: { type: object_store, node_id: n, stream_id: a, directory: { path: d } } } }]\n"
      )
      const program = yield* startProgram({
        args: ["--config", "wal.yaml", "--host", "127.0.0.1"],
        cwd,
        env: { THE_TOKEN: "some-token" }
      })
      assert.notInclude(yield* program.until("log a open"), "without TLS")
    }).pipe(Effect.provide(NodeServices.layer)))

  it.live("reports a bad configuration without a stack trace, with code 2", () =>
    Effect.gen(function*() {
      const cwd = yield* temporary
      const fs = yield* FileSystem.FileSystem
      yield* fs.writeFileString(`${cwd}/wal.yaml`, "streams:\n  - id: a\n    durabilty: 1\n")
      const wrong = [
        ["--config", "wal.yaml"],
        ["--config", "absent.yaml"],
        ["--host", "0.0.0.0"],
        ["--port", "99999"],
        ["config", "print", "--config", "wal.yaml"]
      ]
      for (const args of wrong) {
        const program = yield* startProgram({ args, cwd })
        assert.strictEqual(yield* program.ended, 2, args.join(" "))
        assert.notMatch(program.output(), /^\s+at /m)
        assert.notInclude(program.output(), "listens on")
      }
    }).pipe(Effect.provide(NodeServices.layer)))

  it.live("config print shows what is in force, without a secret and without starting anything", () =>
    Effect.gen(function*() {
      const cwd = yield* temporary
      const fs = yield* FileSystem.FileSystem
      yield* fs.writeFileString(
        `${cwd}/wal.yaml`,
        config(s3Stream({
          bucket: "my-bucket",
          region: "us-east-1",
          endpoint: "http://127.0.0.1:1",
          forcePathStyle: true,
          credentials: { accessKeyId: "some-key", secretAccessKey: Redacted.make("some-secret") }
        }))
      )
      const program = yield* startProgram({ args: ["config", "print", "--config", "wal.yaml"], cwd })
      assert.strictEqual(yield* program.ended, 0)
      assert.match(program.output(), /^server\.port = 0 {2}# .*wal\.yaml:2$/m)
      assert.include(program.output(), "secret_access_key = <redacted>")
      assert.notInclude(program.output(), "some-secret")
    }).pipe(Effect.provide(NodeServices.layer)))

  it.live("tells its version and its flags", () =>
    Effect.gen(function*() {
      const cwd = yield* temporary
      const asked = yield* startProgram({ args: ["--version"], cwd })
      assert.strictEqual(yield* asked.ended, 0)
      assert.include(asked.output(), version)
      const pkg = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8"))
      assert.strictEqual(pkg.version, version)
      const help = yield* startProgram({ args: ["--help"], cwd })
      assert.strictEqual(yield* help.ended, 0)
      for (const flag of ["--config", "--host", "--port", "--insecure"]) assert.include(help.output(), flag)
    }).pipe(Effect.provide(NodeServices.layer)))

  it.live("says in one line that the port is taken", () =>
    Effect.gen(function*() {
      const cwd = yield* temporary
      const first = yield* startProgram({ args: ["--port", "0"], cwd })
      const port = yield* first.portOnce("listens on")
      const other = yield* temporary
      const second = yield* startProgram({ args: ["--port", String(port)], cwd: other })
      assert.strictEqual(yield* second.ended, 1)
      assert.include(second.output(), "cannot listen: listen EADDRINUSE")
      assert.include(second.output(), "choose another port with --port")
      assert.notMatch(second.output(), /^\s+at /m)
    }).pipe(Effect.provide(NodeServices.layer)))
})
