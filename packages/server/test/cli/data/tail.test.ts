import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { startProgram } from "../../support/Process.ts"
import { configured, ndjson, parsed, serve, slowMillis, startCli, untilDurable } from "./Cli.ts"
import { run } from "./InProcess.ts"

/** The numbers of the records that a tail has printed. */
const seqsOf = (output: string): ReadonlyArray<number> =>
  parsed(output.split("\n").filter((line) => line.startsWith("{\"seq\"")).map((line) => `${line}\n`).join(""))
    .map(({ seq }): number => seq)

const append = (url: string, from: number, to: number) =>
  Effect.map(run(["append", "--url", url], ndjson(from, to)), (outcome) => {
    assert.strictEqual(outcome.code, 0, outcome.err)
  })

describe("tail", () => {
  it.live(
    "follows over a restart of the server without a hole or a double, and ends well at SIGINT",
    () =>
      Effect.gen(function*() {
        const cwd = yield* configured("directory")
        const first = yield* serve(cwd)
        const tail = yield* startProgram({ args: ["tail", "--url", first.url, "--from", "1"], cwd })
        yield* append(first.url, 1, 3)
        yield* tail.until("\"seq\":3,")
        first.program.kill("SIGKILL")
        yield* first.program.ended
        const second = yield* serve(cwd, { port: first.port })
        yield* append(second.url, 4, 5)
        yield* tail.until("\"seq\":5,")
        second.program.kill("SIGTERM")
        yield* second.program.ended
        const third = yield* serve(cwd, { port: first.port })
        yield* append(third.url, 6, 6)
        yield* tail.until("\"seq\":6,")
        tail.kill("SIGINT")
        assert.strictEqual(yield* tail.ended, 0)
        assert.deepStrictEqual(seqsOf(tail.output()), [1, 2, 3, 4, 5, 6])
        assert.include(tail.output(), "6 records; the last one was 6, go on with --from 7")
      }).pipe(Effect.provide(NodeServices.layer)),
    slowMillis
  )

  it.live("follows a store that a server writes to, and that stays as it is", () =>
    Effect.gen(function*() {
      const cwd = yield* configured("directory")
      const { url } = yield* serve(cwd)
      yield* append(url, 1, 4)
      const tail = yield* startProgram({ args: ["tail", "--config", "wal.yaml", "--last", "2", "--limit", "3"], cwd })
      yield* tail.until("\"seq\":4,")
      yield* append(url, 5, 6)
      assert.strictEqual(yield* tail.ended, 0)
      assert.deepStrictEqual(seqsOf(tail.output()), [3, 4, 5])
    }).pipe(Effect.provide(NodeServices.layer)), slowMillis)
})

describe("append", () => {
  it.live("stops at SIGINT and says how far it came", () =>
    Effect.gen(function*() {
      const cwd = yield* configured("directory")
      const { url } = yield* serve(cwd)
      const running = yield* startCli(["append", "--url", url], { cwd })
      running.write("{\"n\":1}\n{\"n\":2}\n{\"n\":")
      yield* untilDurable(url, 2)
      running.kill("SIGINT")
      assert.strictEqual(yield* running.ended, 130)
      assert.include(running.err(), "2 records are durable, up to line 2 of stdin (numbers 1 to 2)")
      assert.include(running.err(), "Go on with the same command and --from-line 3")
    }).pipe(Effect.provide(NodeServices.layer)), slowMillis)

  it.live("says what is durable when its server is killed, and what nobody knows", () =>
    Effect.gen(function*() {
      const cwd = yield* configured("directory")
      const { program, url } = yield* serve(cwd)
      const running = yield* startCli(["append", "--url", url], { cwd })
      running.write("{\"n\":1}\n{\"n\":2}\n")
      yield* untilDurable(url, 2)
      program.kill("SIGKILL")
      yield* program.ended
      running.write("{\"n\":3}\n")
      assert.strictEqual(yield* running.ended, 69, running.err())
      assert.include(running.err(), "2 records are durable, up to line 2 of stdin (numbers 1 to 2)")
      assert.include(running.err(), "line 3 to 3 of stdin (1 record) may be stored or not")
      assert.include(running.err(), "--from-line 3")
    }).pipe(Effect.provide(NodeServices.layer)), slowMillis)
})
