/** Tokens of the real program: two at once, rotation by SIGHUP under load, and what becomes of answers that do not end. */
import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, FileSystem, Redacted, Stream } from "effect"
import { FetchHttpClient } from "effect/http"
import { make } from "../../src/client/WalClient.ts"
import { call } from "../support/Client.ts"
import { startProgram } from "../support/Process.ts"
import { eventually } from "../support/Wait.ts"

const config = [
  "server:",
  "  port: 0",
  "  tokens:",
  "    - { id: old, file: old-token, scopes: [read, write] }",
  "    - { id: new, file: new-token, scopes: [read, write] }",
  "streams:",
  "  - durability: { backend: { type: object_store, node_id: n, stream_id: a, directory: { path: d } } }",
  ""
].join("\n")

const started = Effect.gen(function*() {
  const fs = yield* FileSystem.FileSystem
  const cwd = yield* fs.makeTempDirectoryScoped()
  yield* fs.writeFileString(`${cwd}/wal.yaml`, config)
  yield* fs.writeFileString(`${cwd}/old-token`, "token-one\n")
  yield* fs.writeFileString(`${cwd}/new-token`, "token-two\n")
  const program = yield* startProgram({ args: ["serve", "--config", "wal.yaml"], cwd })
  const port = yield* program.portOnce("log a open")
  const statusOf = (token: string) =>
    Effect.map(
      call(port, "/v1/streams/a", { headers: { authorization: `Bearer ${token}` } }),
      ({ status }) => status
    )
  const clientOf = (token: string) =>
    Effect.provide(make({ url: `http://127.0.0.1:${port}`, token: Redacted.make(token) }), FetchHttpClient.layer)
  let reloads = 0
  /** Sends the signal and waits until the program says what came of it. */
  const hangUp = Effect.suspend(() => {
    const before = program.output().split("the tokens ").length
    program.kill("SIGHUP")
    reloads++
    return eventually(() => program.output().split("the tokens ").length > before)
  })
  return { clientOf, cwd, fs, hangUp, program, reloads: () => reloads, statusOf }
})

describe("tokens of a running server", () => {
  it.live(
    "are two at once, and one takes the place of the other without a request that fails",
    () =>
      Effect.gen(function*() {
        const { clientOf, cwd, fs, hangUp, reloads, statusOf } = yield* started
        assert.deepStrictEqual([yield* statusOf("token-one"), yield* statusOf("token-two")], [200, 200])
        const client = yield* clientOf("token-two")
        const appending = yield* Effect.forEach(
          Array.from({ length: 100 }, (_, index) => index),
          (index) => client.append("a", { ndjson: `${index}\n` }, { ack: "accepted" }),
          { concurrency: 4 }
        ).pipe(Effect.forkChild({ startImmediately: true }))
        yield* fs.writeFileString(`${cwd}/old-token`, "token-three\n")
        yield* hangUp
        assert.deepStrictEqual(
          [yield* statusOf("token-one"), yield* statusOf("token-two"), yield* statusOf("token-three")],
          [401, 200, 200]
        )
        assert.strictEqual((yield* Fiber.join(appending)).length, 100)
        assert.strictEqual(reloads(), 1)
      }).pipe(Effect.provide(NodeServices.layer)),
    120_000
  )

  it.live(
    "stay when one of their files cannot be read, and the log names the file, not what was in it",
    () =>
      Effect.gen(function*() {
        const { cwd, fs, hangUp, program, statusOf } = yield* started
        yield* fs.writeFileString(`${cwd}/old-token`, "token-three\n")
        yield* fs.remove(`${cwd}/new-token`)
        yield* hangUp
        assert.deepStrictEqual(
          [yield* statusOf("token-one"), yield* statusOf("token-two"), yield* statusOf("token-three")],
          [200, 200, 401]
        )
        assert.include(program.output(), "server.tokens[1].file")
        assert.notMatch(program.output(), /token-(one|two|three)/)
      }).pipe(Effect.provide(NodeServices.layer)),
    120_000
  )

  it.live(
    "that are taken away end the live tails that they began, and those of the others go on",
    () =>
      Effect.gen(function*() {
        const { clientOf, cwd, fs, hangUp } = yield* started
        const going = yield* clientOf("token-one")
        const staying = yield* clientOf("token-two")
        yield* staying.append("a", { ndjson: "1\n" })
        let begun = 0
        const follow = (client: typeof going, count: number) =>
          client.tail("a", { from: 1 }).pipe(
            Stream.tap(() =>
              Effect.sync(() => {
                begun++
              })
            ),
            Stream.take(count),
            Stream.runDrain
          )
        const cut = yield* Effect.forkChild(Effect.flip(follow(going, 100)), { startImmediately: true })
        const kept = yield* Effect.forkChild(follow(staying, 2), { startImmediately: true })
        yield* eventually(() => begun === 2)
        yield* fs.writeFileString(`${cwd}/old-token`, "token-three\n")
        yield* hangUp
        assert.strictEqual((yield* Fiber.join(cut)).reason._tag, "unauthorized")
        yield* staying.append("a", { ndjson: "2\n" })
        yield* Fiber.join(kept)
      }).pipe(Effect.provide(NodeServices.layer)),
    120_000
  )
})
