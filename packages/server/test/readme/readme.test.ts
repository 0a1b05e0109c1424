/** What `README.md` shows runs: the library example, the configuration, the commands, the presets. */
import { formatDuration } from "@effect-wal/core/config/DurationText"
import { presetNames, presets } from "@effect-wal/core/config/Presets"
import { Wal } from "@effect-wal/core/Wal"
import { make as makeDouble } from "@effect-wal/testing/HttpS3Double"
import { WalTest } from "@effect-wal/testing/WalTest"
import { assert, describe, it } from "@effect/vitest"
import { Console, Duration, Effect } from "effect"
import { existsSync, readFileSync } from "node:fs"
import { banner } from "../../src/cli/Banner.ts"
import { loadConfig } from "../../src/config/ServerConfig.ts"
import { main, program } from "./example.ts"

const root = new URL("../../../../", import.meta.url)
const readme = readFileSync(new URL("README.md", root), "utf8")

/** The text of the only fenced block of a language. */
const block = (language: string): string => {
  const found = [...readme.matchAll(new RegExp(`\`\`\`${language}\n(.*?)\`\`\``, "gs"))].map((match) => match[1] ?? "")
  assert.strictEqual(found.length, 1, `blocks of ${language} in README.md`)
  return found[0] ?? ""
}

/** Runs the effect with a console of its own; answers the lines that start with a number, as the example's do. */
const printed = Effect.fnUntraced(function*<A, E, R>(effect: Effect.Effect<A, E, R>) {
  const lines: Array<string> = []
  const quiet: Console.Console = Object.assign(Object.create(globalThis.console), {
    log: (...args: ReadonlyArray<unknown>) => {
      if (typeof args[0] === "number") lines.push(args.join(" "))
    }
  })
  yield* Effect.provideService(effect, Console.Console, quiet)
  return lines
})

describe("README.md, library", () => {
  it("shows the example that these tests run", () => {
    assert.strictEqual(block("ts"), readFileSync(new URL("example.ts", import.meta.url), "utf8"))
  })

  it.effect("the program runs on the log for tests: appends, delivers, acknowledges", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* printed(program), ["1 first", "2 second"])
      const status = yield* (yield* Wal).status
      assert.deepStrictEqual([status.durable, status.cursors["default"]?.mark], [2, 2])
    }).pipe(Effect.provide(WalTest.layer())))

  it.live("the whole runs on S3, and after a restart delivers what is new", () =>
    Effect.gen(function*() {
      const double = yield* makeDouble()
      assert.deepStrictEqual(yield* printed(main(double.s3Options)), ["1 first", "2 second"])
      assert.deepStrictEqual(yield* printed(main(double.s3Options)), ["3 first", "4 second"])
      assert.isTrue([...double.objects.keys()].every((key) => key.startsWith("wal/node-0/orders/")))
    }))
})

describe("README.md, server", () => {
  it.effect("the S3 configuration decodes to what it says", () =>
    Effect.gen(function*() {
      const env = { HOSTNAME: "wal-0", INGEST_TOKEN: "a-token-of-some-length-0123456789" }
      const { settings, streams } = yield* loadConfig({ text: block("yaml"), env })
      assert.deepStrictEqual([settings.host, settings.port], ["0.0.0.0", 8180])
      assert.deepStrictEqual(settings.tokens, [
        { id: "ingest", secret: { env: "INGEST_TOKEN" }, scopes: ["read", "write"] }
      ])
      const [stream] = streams
      assert.strictEqual(streams.length, 1)
      assert.deepStrictEqual([stream?.id, stream?.options.prefix, stream?.options.nodeId], ["orders", "wal", "wal-0"])
      assert.deepStrictEqual(stream?.options.segment, presets.balanced)
      assert.deepStrictEqual([stream?.options.parallelPut.workers, stream?.options.compression.type], [2, "zstd"])
      assert.deepInclude(stream?.store, {
        type: "s3",
        bucket: "my-bucket",
        region: "eu-central-1",
        conditionalWrites: "required"
      })
      assert.notProperty(stream?.store, "credentials")
    }))

  it.effect("the spool that is shown decodes beside a store, with the default that is told", () =>
    Effect.gen(function*() {
      const [, spool] = /`(spool: \{ [^}]+ \})` beside `s3`/.exec(readme) ?? []
      const env = { HOSTNAME: "wal-0", INGEST_TOKEN: "a-token-of-some-length-0123456789" }
      const text = block("yaml").replace(/^( +)prefix: wal$/m, `$&\n$1${spool ?? "no spool"}`)
      const { streams } = yield* loadConfig({ text, env })
      assert.deepInclude(streams[0]?.spool, { path: "/var/lib/wal", maxBytes: 10_000_000_000 })
      const after = Duration.fromInputUnsafe(streams[0]?.spool?.after ?? "0 millis")
      assert.match(readme, new RegExp(`after .after.\\s+\\(${formatDuration(after)}\\)`))
    }))

  it.effect("the three commands are those that the server prints, and its default is what the page says", () =>
    Effect.gen(function*() {
      const { settings, streams } = yield* loadConfig({ env: {} })
      const commands = banner(settings, settings.port).split("\n").filter((line) => line.includes("curl"))
      assert.strictEqual(commands.length, 3)
      for (const command of commands) assert.include(readme.split("\n"), command.trim())
      assert.include(readme, `serves http://${settings.host}:${settings.port}, one stream \`${settings.streams[0]}\``)
      assert.deepInclude(streams[0]?.store, { type: "local", path: "./data" })
    }))

  it("the table of presets is that of the code", () => {
    const grouped = (value: number) => String(value).replaceAll(/\B(?=(\d{3})+$)/g, ",")
    const rows = readme.split("\n").filter((line) => /^\| `\w+` +\|/.test(line)).map((line) =>
      line.split("|").slice(1, -1).map((cell) => cell.trim())
    )
    assert.deepStrictEqual(
      rows,
      presetNames.map((name) => {
        const { flushInterval, linger, maxBytes, maxEntries } = presets[name]
        return [
          `\`${name}\``,
          grouped(maxEntries),
          grouped(maxBytes),
          formatDuration(flushInterval),
          formatDuration(linger)
        ]
      })
    )
  })

  it("every link to a file leads to one", () => {
    const links = [...readme.matchAll(/\]\(([^)]+)\)/g)].map((match) => match[1] ?? "")
    const files = links.filter((link) => !link.startsWith("https://"))
    assert.isAbove(files.length, 5)
    for (const file of files) assert.isTrue(existsSync(new URL(file, root)), file)
  })
})
