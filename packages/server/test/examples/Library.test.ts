/** The library examples, run as their reader would run them: `node examples/library/….ts`. */
import { make as makeDouble } from "@effect-wal/testing/HttpS3Double"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it } from "@effect/vitest"
import { Effect, FileSystem } from "effect"
import { execFile } from "node:child_process"
import { readdirSync, readFileSync } from "node:fs"
import { directory, environmentOf, temporary } from "./Examples.ts"

const library = `${directory}library/`

/** Runs one in a directory; answers what it printed, without the lines of the log, or dies with all of it. */
const run = (name: string, cwd: string, env: Readonly<Record<string, string>> = {}) =>
  Effect.callback<ReadonlyArray<string>>((resume) => {
    const options = { cwd, env: { PATH: process.env["PATH"], ...env } }
    execFile(process.execPath, [`${library}${name}.ts`], options, (error, stdout, stderr) => {
      const lines = stdout.split("\n").filter((line) => line !== "" && !/^ {2}|^\[\d\d:\d\d:\d\d/.test(line))
      resume(error === null ? Effect.succeed(lines) : Effect.die(new Error(`${name}: ${stdout}${stderr}`)))
    })
  })

const ran = new Set<string>()

const example = (
  name: string,
  title: string,
  test: (
    run: (env?: Readonly<Record<string, string>>) => Effect.Effect<ReadonlyArray<string>>,
    cwd: string
  ) => Effect.Effect<
    void,
    unknown,
    FileSystem.FileSystem
  >
) => {
  ran.add(name)
  it.live(`${name}: ${title}`, () =>
    Effect.gen(function*() {
      const cwd = yield* temporary
      yield* test((env) => run(name, cwd, env), cwd)
    }).pipe(Effect.scoped, Effect.provide(NodeServices.layer)))
}

const entries = (path: string) => Effect.flatMap(FileSystem.FileSystem, (fs) => fs.readDirectory(path))

describe("examples/library", () => {
  it("every example is run here, and the page beside them names each", () => {
    const files = readdirSync(library).filter((file) => file.endsWith(".ts")).map((file) => file.slice(0, -3))
    assert.sameMembers([...ran], files)
    const page = readFileSync(`${directory}README.md`, "utf8")
    for (const file of files) assert.match(page, new RegExp(`^\\| \`${file}\` `, "m"))
  })

  example("append-and-replay", "on S3; each run handles what none before has", (run) =>
    Effect.gen(function*() {
      const double = yield* makeDouble()
      const env = environmentOf(double.s3Options)
      assert.deepStrictEqual(yield* run(env), ["durable: 1 to 2", "record 1: first", "record 2: second"])
      assert.deepStrictEqual(yield* run(env), ["durable: 3 to 4", "record 3: first", "record 4: second"])
      assert.isTrue([...double.objects.keys()].every((key) => key.startsWith("examples/node-0/append-and-replay/")))
    }).pipe(Effect.scoped))

  example("several-logs", "four in one directory, none of them in another's way", (run, cwd) =>
    Effect.gen(function*() {
      const lines = [
        "orders: durable to 1, payments: durable to 1",
        "customer-1: durable to 1",
        "customer-2: durable to 1"
      ]
      assert.deepStrictEqual(yield* run(), lines)
      assert.deepStrictEqual(yield* run(), lines.map((line) => line.replaceAll("to 1", "to 2")))
      assert.sameMembers([...yield* entries(`${cwd}/data/several-logs/node-0`)], [
        "customer-1",
        "customer-2",
        "orders",
        "payments"
      ])
    }))

  example(
    "typed",
    "values come back as values, and what does not decode is said and left out",
    (run) =>
      Effect.gen(function*() {
        const order = "order o-2 of 1200 cents"
        const undecodable = (seq: number) => `record ${seq} is left out: value["placedAt"]: Missing key`
        assert.deepStrictEqual(yield* run(), [undecodable(1), order])
        assert.deepStrictEqual(yield* run(), [undecodable(3), order])
      })
  )

  example("local", "each run goes on where the one before has ended", (run, cwd) =>
    Effect.gen(function*() {
      const env = { WAL_PATH: `${cwd}/here` }
      assert.deepStrictEqual(yield* run(env), ["1: run 1"])
      assert.deepStrictEqual(yield* run(env), ["1: run 1", "2: run 2"])
      assert.deepStrictEqual(yield* entries(cwd), ["here"])
    }))

  example(
    "spool",
    "records survive the process while the store is away, in each run",
    (run, cwd) =>
      Effect.gen(function*() {
        for (const seq of [1, 2]) {
          assert.deepStrictEqual(yield* run(), [
            `store away: spooled to ${seq}, durable to ${seq - 1}, at risk 0`,
            `store back: durable to ${seq}`
          ])
        }
        assert.sameMembers([...yield* entries(`${cwd}/data`)], ["spool", "spool-store"])
      })
  )

  example(
    "test-clock",
    "an outage of a minute takes no time, and touches no disk",
    (run, cwd) =>
      Effect.gen(function*() {
        assert.deepStrictEqual(yield* run(), [
          "after a minute: durable to 0, at risk 1 for 60000 ms",
          "with the store back: durable to 1"
        ])
        assert.deepStrictEqual(yield* entries(cwd), [])
      })
  )
})
