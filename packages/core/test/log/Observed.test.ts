import { assert, describe, it } from "@effect/vitest"
import { Effect, Logger, type LogLevel, References, Stream, Tracer } from "effect"
import { drive, key, open, type Options, records, refusePuts, reopen, still, store } from "../support/LogWorld.ts"

const tens: Options = { ...still, segment: { maxEntries: 10 } }

/** Runs it and answers the lines that were logged, as `LEVEL text`. */
const logged = Effect.fnUntraced(function*<A, E>(effect: Effect.Effect<A, E>) {
  const lines: Array<string> = []
  const level: LogLevel.LogLevel = "All"
  const logger = Logger.make(({ logLevel, message }) => {
    lines.push(`${logLevel} ${Array.isArray(message) ? message.map(String).join(" ") : String(message)}`)
  })
  yield* effect.pipe(
    Effect.provide(Logger.layer([logger])),
    Effect.provideService(References.MinimumLogLevel, level)
  )
  return lines
})

describe("log lines of the source documents, word for word", () => {
  it.effect("sealing, PUT complete, recovery replayed", () =>
    Effect.gen(function*() {
      const lines = yield* logged(Effect.gen(function*() {
        const log = yield* open(tens, { logLevel: "All", latencyMillis: 30 })
        yield* drive(store(log.wal, records(20)), 10)
        yield* Stream.runDrain(log.wal.replay({ until: "durable-end" }))
        const again = yield* reopen(log, tens, { logLevel: "All" })
        yield* again.wal.commit(5)
        yield* Stream.runDrain(again.wal.replay({ until: "durable-end" }))
        yield* again.wal.close
      }))
      const size = 4 + 10 * 12 + "r1".length * 9 + "r10".length
      assert.include(lines, `Debug Sealing segment: entries=10, bytes=${size}`)
      const complete = lines.filter((line) => line.startsWith(`Info Segment PUT complete: ${key(0)}, `))
      assert.strictEqual(complete.length, 1)
      assert.match(complete[0] ?? "", /, [0-9]+ bytes in 30ms$/)
      assert.include(lines, "Info Recovery: replayed 20 entries from 2 segments in 0ms")
      assert.include(lines, "Info Recovery: replayed 15 entries from 2 segments in 0ms")
      assert.include(lines, "Info log log closed: durable up to 20")
    }))

  it.effect("PUT failed, retrying: at most one a second, and it says how many it left out", () =>
    Effect.gen(function*() {
      const lines = yield* logged(Effect.gen(function*() {
        let failures = 30
        const log = yield* open({ ...tens, retry: { base: "100ms", cap: "100ms" } }, {
          logLevel: "All",
          rules: [refusePuts("Throttled", () => failures-- > 0)]
        })
        yield* drive(store(log.wal, records(1)), 10)
      }))
      const warnings = lines.filter((line) => line.startsWith("Warn "))
      assert.match(warnings[0] ?? "", /^Warn Segment PUT failed: .*Throttled.*, retrying\.\.\.$/)
      assert.match(warnings[1] ?? "", /, retrying\.\.\. \(and [0-9]+ more\)$/)
      assert.isBelow(warnings.length, 4)
    }))

  it.effect("an option that does not do what it seems to is warned of when the log is opened", () =>
    Effect.gen(function*() {
      const opened = (options: Options) =>
        Effect.map(
          logged(open(options, { logLevel: "All" })),
          (lines) => lines.filter((line) => line.startsWith("Warn "))
        )
      assert.deepStrictEqual(yield* opened({ ...tens, compression: { type: "lz4", level: 9 } }), [
        "Warn compression.level 9 changes nothing: the lz4 library has one level"
      ])
      const [budget] = yield* opened({ ...tens, budget: { putsPerSecond: 0.1 } })
      assert.include(budget ?? "", "budget: 0.1 PUTs a second are fewer than flush_interval 1s makes")
      assert.deepStrictEqual(yield* opened({ ...tens, compression: { type: "lz4" } }), [])
    }))

  it.effect("what was lost at closing is an error with the exact range [predecessor 23]", () =>
    Effect.gen(function*() {
      const lines = yield* logged(Effect.gen(function*() {
        const log = yield* open({ ...tens, parallelPut: { shutdownTimeout: "1s" } }, {
          logLevel: "All",
          rules: [refusePuts("Throttled")]
        })
        yield* log.wal.append(records(7))
        yield* drive(log.wal.close)
      }))
      assert.include(lines, "Error log log closed with records not stored: 1 to 7 (durable up to 0)")
    }))
})

describe("spans", () => {
  it.effect("of open, append, put, manifest, flush and replay, once somebody collects them", () =>
    Effect.gen(function*() {
      const names: Array<string> = []
      const tracer = Tracer.make({
        span: (options) => {
          names.push(options.name)
          return new Tracer.NativeSpan(options)
        }
      })
      yield* Effect.gen(function*() {
        const log = yield* open(tens)
        yield* log.wal.append(records(1))
        yield* log.wal.appendNow(records(1))
        yield* log.wal.flush
        yield* Stream.runDrain(log.wal.replay({ until: "durable-end" }))
        yield* log.wal.trim(0)
      }).pipe(Effect.provideService(Tracer.Tracer, tracer))
      const count = (name: string) => names.filter((one) => one === name).length
      const spans = ["wal.open", "wal.append", "wal.put", "wal.manifest", "wal.flush", "wal.replay"]
      assert.deepStrictEqual(spans.map((name) => [name, count(name)]), [
        ["wal.open", 1],
        ["wal.append", 2],
        ["wal.put", 1],
        ["wal.manifest", 1],
        ["wal.flush", 1],
        ["wal.replay", 1]
      ])
    }))
})
