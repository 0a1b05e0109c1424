import { errorTable } from "@effect-wal/core/ErrorTable"
import { ObjectStoreError } from "@effect-wal/core/store/ObjectStoreError"
import {
  AccessDenied,
  ConfigError,
  DirectoryLocked,
  ManifestMissing,
  SegmentMissing,
  StoreUnavailable,
  Trimmed,
  WriterFenced
} from "@effect-wal/core/WalError"
import { assert, describe, it } from "@effect/vitest"
import { Console, Effect } from "effect"
import { ExitCode, type ExitCodeName, exitCodes } from "../../src/cli/ExitCode.ts"
import {
  CommandFailed,
  describeFailure,
  failureOfAnswer,
  reportingFailures,
  type TaggedFailure
} from "../../src/cli/Failure.ts"
import { failureTable } from "../../src/cli/FailureTable.ts"
import { Json } from "../../src/cli/Output.ts"
import { exitCodes as serveCodes } from "../../src/Shutdown.ts"

const request = { operation: "get", key: "wal/n/s/manifest.json", detail: "as the test asked" }

const cases: ReadonlyArray<readonly [error: TaggedFailure, exit: ExitCodeName]> = [
  [new ConfigError({ source: "wal.yaml", problems: [{ path: "a", rule: "must be b" }] }), "usage"],
  [new StoreUnavailable(request), "unavailable"],
  [new AccessDenied(request), "denied"],
  [new WriterFenced({ streamId: "s", epoch: 1 }), "refused"],
  [new DirectoryLocked({ path: "/data" }), "refused"],
  [new SegmentMissing({ key: "k", from: 1, to: 2 }), "damaged"],
  [new ManifestMissing({ key: "k", found: "segments/0" }), "damaged"],
  [new ManifestMissing({ key: "k", found: "no log here" }), "notFound"],
  [new Trimmed({ from: 1, trimmedTo: 5 }), "notFound"],
  [new ObjectStoreError({ operation: "get", key: "k", reason: "CredentialsUnavailable", detail: "none" }), "denied"],
  [new CommandFailed({ code: "c", message: "m", next: "n", exit: "failed" }), "failed"]
]

/** What a handler that ends so says on stderr, and the code that it ends with. */
const reported = (json: boolean, handler: Effect.Effect<unknown, TaggedFailure | ExitCode>) =>
  Effect.gen(function*() {
    const lines: Array<string> = []
    const console = yield* Console.Console
    const error = yield* Effect.flip(reportingFailures(handler)).pipe(
      Effect.provideService(Json, json),
      Effect.provideService(Console.Console, { ...console, error: (...args) => void lines.push(args.join(" ")) })
    )
    return { code: error.code, text: lines.join("\n") }
  })

describe("Failure", () => {
  for (const [error, exit] of cases) {
    it(`${error._tag} (${error.message}) ends with ${exit}, and says what to do`, () => {
      const failure = describeFailure(error)
      assert.strictEqual(failure.exit, exit)
      assert.isAbove(failure.message.length, 0)
      assert.isAbove(failure.next.length, 0)
    })
  }

  it("has advice for every error of the log, in words of the command line", () => {
    for (const [tag, { then }] of Object.entries(errorTable)) {
      const next = describeFailure({ _tag: tag, message: "m" }).next
      assert.isAbove(next.length, 10, tag)
      assert.notMatch(next, /WalVerify|WalRepair/, `${tag}: ${then}`)
    }
    assert.sameMembers(Object.keys(failureTable), Object.keys(errorTable))
  })

  it.effect("is told as text, without a stack trace", () =>
    Effect.gen(function*() {
      const { code, text } = yield* reported(false, Effect.fail(new StoreUnavailable(request)))
      assert.strictEqual(code, exitCodes.unavailable.code)
      assert.strictEqual(
        text,
        "effect-wal: get wal/n/s/manifest.json: as the test asked\n" +
          "  what to do: Look what the store answers with `effect-wal doctor`, and try again."
      )
    }))

  it.effect("is told as one line of JSON with --json; a configuration with all its problems", () =>
    Effect.gen(function*() {
      const problems = [{ path: "a", rule: "must be b", line: 3 }, { path: "c", rule: "is missing" }]
      const { code, text } = yield* reported(true, Effect.fail(new ConfigError({ source: "wal.yaml", problems })))
      assert.strictEqual(code, 2)
      const { error } = JSON.parse(text)
      assert.strictEqual(error.code, "config_error")
      assert.strictEqual(error.exit_code, 2)
      assert.deepStrictEqual(error.details, { problems })
    }))

  it.effect("lets an exit code pass that has said everything", () =>
    Effect.gen(function*() {
      const { code, text } = yield* reported(false, Effect.fail(new ExitCode({ code: 75 })))
      assert.deepStrictEqual({ code, text }, { code: 75, text: "" })
    }))

  it.effect("calls a defect a defect", () =>
    Effect.gen(function*() {
      const { code, text } = yield* reported(false, Effect.die(new Error("oh no")))
      assert.strictEqual(code, exitCodes.dead.code)
      assert.include(text, "a defect of the program: oh no")
      assert.notMatch(text, /^\s+at /m)
    }))

  it("maps the answers of a server by their code", () => {
    assert.strictEqual(failureOfAnswer({ status: 410, code: "trimmed", message: "m" }).exit, "notFound")
    assert.strictEqual(failureOfAnswer({ status: 401, code: "unauthorized", message: "m" }).exit, "denied")
    assert.strictEqual(failureOfAnswer({ status: 404, code: "stream_not_found", message: "m" }).exit, "notFound")
    assert.strictEqual(failureOfAnswer({ status: 503, code: "draining", message: "m" }).exit, "unavailable")
    assert.strictEqual(failureOfAnswer({ status: 409, code: "fenced", message: "m" }).exit, "refused")
  })
})

describe("the exit codes", () => {
  it("are each used once", () => {
    const codes = Object.values(exitCodes).map(({ code }) => code)
    assert.strictEqual(new Set(codes).size, codes.length)
  })

  it("hold what the server ends with", () => {
    const codes: ReadonlyArray<number> = Object.values(exitCodes).map(({ code }) => code)
    for (const code of Object.values(serveCodes)) assert.include(codes, code)
  })
})
