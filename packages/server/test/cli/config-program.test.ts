import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it } from "@effect/vitest"
import { Effect, FileSystem } from "effect"
import { configSchema } from "../../src/cli/ConfigSchema.ts"
import { configured, parsed, temporary } from "./data/Cli.ts"
import { inProcess } from "./InProcess.ts"

const broken = `server: { port: 99999, host: 0.0.0.0 }
streams:
  - id: a
    durabilty: {}
  - id: b
    durability: { backend: { type: object_store, node_id: n, stream_id: b, parallel_put: { workers: 9 } } }
`

const withText = Effect.fnUntraced(function*(text: string) {
  const cwd = yield* temporary
  const fs = yield* FileSystem.FileSystem
  yield* fs.writeFileString(`${cwd}/wal.yaml`, text)
  return cwd
})

describe("effect-wal config", () => {
  it.live("check: names all problems at once, with file and line, and ends with 2", () =>
    Effect.gen(function*() {
      const cwd = yield* withText(broken)
      const { code, err, text } = yield* inProcess("config", "check", "--config", `${cwd}/wal.yaml`)
      assert.strictEqual(code, 2)
      assert.strictEqual(text, "")
      for (const place of ["wal.yaml:1: server.port", "wal.yaml:4: streams[0].durabilty", "wal.yaml:6: streams[1]"]) {
        assert.include(err, place)
      }
      assert.include(err, "did you mean durability?")
      assert.include(err, "what to do:")
    }).pipe(Effect.provide(NodeServices.layer)))

  it.live("check --json: the problems are the result", () =>
    Effect.gen(function*() {
      const cwd = yield* withText(broken)
      const { code, text } = yield* inProcess("config", "check", "--config", `${cwd}/wal.yaml`, "--json")
      assert.strictEqual(code, 2)
      const [found] = parsed(text)
      assert.isFalse(found.ok)
      assert.isAtLeast(found.problems.length, 4)
      for (const problem of found.problems) assert.isString(problem.rule)
    }).pipe(Effect.provide(NodeServices.layer)))

  it.live("check: judges an address as serve does", () =>
    Effect.gen(function*() {
      const cwd = yield* configured("local", ["orders"], "host: 0.0.0.0")
      const refused = yield* inProcess("config", "check", "--config", `${cwd}/wal.yaml`)
      assert.strictEqual(refused.code, 2)
      assert.include(refused.err, "server.tokens")
      const taken = yield* inProcess("config", "check", "--config", `${cwd}/wal.yaml`, "--insecure")
      assert.strictEqual(taken.code, 0)
      assert.include(taken.text, "wal.yaml: ok, 1 stream: orders")
      const json = yield* inProcess("config", "check", "--config", `${cwd}/wal.yaml`, "--insecure", "--json")
      assert.deepInclude(JSON.parse(json.text), { ok: true, source: `${cwd}/wal.yaml`, streams: ["orders"] })
    }).pipe(Effect.provide(NodeServices.layer)))

  it.live("print --json: raw values with units, and where they come from", () =>
    Effect.gen(function*() {
      const cwd = yield* configured("local")
      const { code, text } = yield* inProcess("config", "print", "--config", `${cwd}/wal.yaml`, "--json")
      assert.strictEqual(code, 0)
      const rows = parsed(text)
      const row = (path: string) => rows.find((each) => each.path === path)
      assert.deepStrictEqual(row("server.port"), { path: "server.port", value: 0, origin: `${cwd}/wal.yaml:1` })
      assert.deepStrictEqual(row("server.store_grace"), {
        path: "server.store_grace",
        value: 30_000,
        unit: "ms",
        origin: "default"
      })
      assert.strictEqual(row("streams[0].id").value, "orders")
    }).pipe(Effect.provide(NodeServices.layer)))

  it.live("schema: prints the JSON Schema", () =>
    Effect.gen(function*() {
      const pretty = yield* inProcess("config", "schema")
      assert.strictEqual(pretty.code, 0)
      assert.deepStrictEqual(JSON.parse(pretty.text), JSON.parse(JSON.stringify(configSchema())))
      const line = yield* inProcess("config", "schema", "--json")
      assert.lengthOf(parsed(line.text), 1)
    }).pipe(Effect.provide(NodeServices.layer)))
})
