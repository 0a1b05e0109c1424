import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it } from "@effect/vitest"
import { Effect, FileSystem } from "effect"
import { cli, configured, serve, slowMillis } from "./Cli.ts"
import { run } from "./InProcess.ts"

const token = "a-token-of-some-length-0123456789"

describe("what a command works on", () => {
  it.live("is said by a flag, or by a variable, or it says what to do", () =>
    Effect.gen(function*() {
      const cwd = yield* configured("directory")
      const { url } = yield* serve(cwd)
      const named = yield* cli(["append"], { cwd, input: "1\n", env: { EFFECT_WAL_URL: url } })
      assert.strictEqual(named.code, 0, named.err)
      const stored = yield* cli(["status", "--json"], { cwd, env: { EFFECT_WAL_CONFIG: "wal.yaml" } })
      assert.deepInclude(JSON.parse(stored.text), { id: "orders", state: "stored", durable: 1 })
      const both = yield* run(["status", "--url", url, "--config", "wal.yaml"])
      assert.strictEqual(both.code, 2)
      assert.include(both.err, "on a server or on a store")
      const secret = yield* run(["status", "--url", url.replace("//", "//me:word@")])
      assert.strictEqual(secret.code, 2)
      assert.notInclude(secret.err, "word@")
      const nobody = yield* run(["status", "--url", "http://127.0.0.1:1", "--json"])
      assert.deepInclude(JSON.parse(nobody.err).error, { code: "server_unreachable", exit_code: 69 })
    }).pipe(Effect.provide(NodeServices.layer)), slowMillis)

  it.live("gets the token from a flag, a file or a variable, and never prints it", () =>
    Effect.gen(function*() {
      const cwd = yield* configured(
        "directory",
        ["orders"],
        "port: 0, tokens: [{ id: t, env: THE_TOKEN, scopes: [read, write] }]"
      )
      const fs = yield* FileSystem.FileSystem
      yield* fs.writeFileString(`${cwd}/token`, `${token}\n`)
      const { url } = yield* serve(cwd, { env: { THE_TOKEN: token } })
      const status = ["status", "--url", url, "--log-level", "all"]
      const outcomes = [
        yield* cli(status, { cwd, env: { EFFECT_WAL_TOKEN: token } }),
        yield* run([...status, "--token", token]),
        yield* run([...status, "--token-file", `${cwd}/token`])
      ]
      for (const status of outcomes) {
        assert.strictEqual(status.code, 0, status.err)
        assert.notInclude(status.text + status.err, token)
      }
      // What no request can carry is refused before one is made: the error of `fetch` would show it.
      const broken = yield* run(["status", "--url", url, "--token", `${token}\nword`])
      assert.strictEqual(broken.code, 2, broken.err)
      assert.notInclude(broken.err, token)
      for (const args of [[], ["--token", `${token}-wrong`]]) {
        const refused = yield* run(["append", "--url", url, ...args], "1\n")
        assert.strictEqual(refused.code, 77, refused.err)
        assert.notInclude(refused.err, token)
      }
      const trim = yield* run(["trim", "0", "--url", url, "--token", token])
      assert.strictEqual(trim.code, 77)
    }).pipe(Effect.provide(NodeServices.layer)), slowMillis)

  it.live("has no use for a flag of another kind of target, and says so", () =>
    Effect.gen(function*() {
      const cwd = yield* configured("directory")
      const config = ["--config", `${cwd}/wal.yaml`]
      const { url } = yield* serve(cwd)
      const calls: ReadonlyArray<readonly [found: string, args: ReadonlyArray<string>]> = [
        ["are for a server", ["status", ...config, "--token", token]],
        ["are for a server", ["status", ...config, "--token-file", `${cwd}/token`]],
        ["--take-over is for a store", ["append", "--url", url, "--take-over"]],
        ["--take-over is for a store", ["flush", "--url", url, "--take-over"]],
        ["no meaning with --raw", ["append", "--url", url, "--raw", "--batch-records", "2"]],
        ["no meaning with --raw", ["append", "--url", url, "--raw", "--batch-bytes", "2"]]
      ]
      for (const [found, args] of calls) {
        const refused = yield* run(args, "1\n")
        assert.strictEqual(refused.code, 2, args.join(" "))
        assert.include(refused.err, found)
      }
      const named = yield* cli(["status", "--token", token], { cwd, env: { EFFECT_WAL_CONFIG: "wal.yaml" } })
      assert.strictEqual(named.code, 2, named.err)
      const status = yield* run(["status", "--url", url, "--json"])
      assert.deepInclude(JSON.parse(status.text), { durable: 0 })
    }).pipe(Effect.provide(NodeServices.layer)), slowMillis)

  it.live("is a store for inspect, verify and repair, and they say so", () =>
    Effect.gen(function*() {
      for (const args of [["verify"], ["repair", "--dry-run"], ["inspect", "manifest"], ["inspect", "epochs"]]) {
        const refused = yield* run([...args, "--url", "http://127.0.0.1:1"])
        assert.strictEqual(refused.code, 2)
        assert.include(refused.err, "works on stores only")
        assert.include(refused.err, "a local log is read only while no server has it open")
      }
    }).pipe(Effect.provide(NodeServices.layer)))
})
