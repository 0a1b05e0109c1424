import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it } from "@effect/vitest"
import { Effect, FileSystem } from "effect"
import { makeStoreTarget } from "../../../src/cli/data/StoreTarget.ts"
import { describeFailure } from "../../../src/cli/Failure.ts"
import { loadConfig } from "../../../src/config/ServerConfig.ts"
import { cli, configured, ndjson, slowMillis } from "./Cli.ts"
import { run } from "./InProcess.ts"

describe("cursor set on a store", () => {
  it.live("waits until the mark is stored, and says where it is not", () =>
    Effect.gen(function*() {
      const cwd = yield* configured("directory")
      const fs = yield* FileSystem.FileSystem
      const path = `${cwd}/wal.yaml`
      const config = ["--config", path]
      const text = yield* fs.readFileString(path)
      yield* fs.writeFileString(path, text.replace("manifest:", "parallel_put: { shutdown_timeout: 3s }, manifest:"))
      yield* run(["append", ...config], ndjson(1, 3))
      const set = yield* run(["cursor", "set", "default", "1", ...config, "--take-over", "--json"])
      assert.deepInclude(JSON.parse(set.text), { name: "default", seq: 1, persisted: 1, lag: 2 })
      const target = makeStoreTarget(yield* loadConfig({ path, env: {} }))
      const open = target.writer("orders", { command: "cursor set", takeOver: true, creates: false })
      // Fenced before its mark is stored.
      const fenced = yield* Effect.scoped(Effect.gen(function*() {
        const writer = yield* open
        const taken = yield* cli(["flush", ...config, "--take-over"], { cwd })
        assert.strictEqual(taken.code, 0, taken.err)
        return yield* Effect.flip(writer.commit("default", 2))
      }))
      assert.strictEqual(fenced._tag, "WriterFenced")
      assert.strictEqual(describeFailure(fenced).exit, "refused")
      // Nothing can be written until the time for closing is over.
      const away = yield* Effect.scoped(Effect.gen(function*() {
        const writer = yield* open
        const [drafts, elsewhere] = [`${cwd}/store/~tmp`, `${cwd}/elsewhere`]
        yield* fs.rename(drafts, elsewhere)
        yield* fs.writeFileString(drafts, "no directory")
        const failed = yield* Effect.flip(writer.commit("default", 2))
        yield* fs.remove(drafts)
        yield* fs.rename(elsewhere, drafts)
        return failed
      }))
      assert.deepInclude(describeFailure(away), { code: "cursor_not_stored", exit: "unavailable" })
      const now = yield* run(["cursor", "get", "default", ...config, "--json"])
      assert.deepInclude(JSON.parse(now.text), { name: "default", seq: 1 })
    }).pipe(Effect.provide(NodeServices.layer)), slowMillis)
})
