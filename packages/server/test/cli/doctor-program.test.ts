import { errorAnswer } from "@effect-wal/testing/HttpS3Action"
import { make as makeDouble } from "@effect-wal/testing/HttpS3Double"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs"
import { startProgram } from "../support/Process.ts"
import { eventually } from "../support/Wait.ts"
import { cli, configured, parsed, serve } from "./data/Cli.ts"
import { absolute, inProcess } from "./InProcess.ts"
import { configuredAs, s3Config } from "./S3Config.ts"

interface Row {
  readonly stream: string
  readonly check: string
  readonly status: string
}

const statuses = (text: string): Readonly<Record<string, string>> =>
  Object.fromEntries(parsed(text).map((row: Row) => [row.check, row.status]))

describe("effect-wal doctor", () => {
  it.live("finds a disk good, makes no directory and leaves nothing", () =>
    Effect.gen(function*() {
      const cwd = yield* configured("local")
      absolute(cwd)
      const { code, err, text } = yield* cli(["doctor", "--config", "wal.yaml"], { cwd })
      assert.strictEqual(code, 0, `${text}\n${err}`)
      for (const check of ["disk directory", "disk write", "disk sync", "disk space", "disk lock"]) {
        assert.include(text, check)
      }
      assert.include(text, "does not exist yet")
      assert.deepStrictEqual(readdirSync(cwd), ["wal.yaml"])
    }).pipe(Effect.provide(NodeServices.layer)))

  for (const [signal, code] of [["SIGINT", 130], ["SIGTERM", 143], ["SIGHUP", 129]] as const) {
    it.live(`removes what it has written when ${signal} ends it`, () =>
      Effect.gen(function*() {
        const cwd = yield* configured("directory")
        mkdirSync(`${cwd}/store`)
        const program = yield* startProgram({ args: ["doctor", "--config", "wal.yaml", "--tries", "1000"], cwd })
        yield* eventually(() => readdirSync(`${cwd}/store`).length > 0)
        program.kill(signal)
        assert.strictEqual(yield* program.ended, code, program.output())
        assert.deepStrictEqual(readdirSync(`${cwd}/store`), [])
      }).pipe(Effect.provide(NodeServices.layer)))
  }

  it.live("says that a server has the local log open", () =>
    Effect.gen(function*() {
      const cwd = yield* configured("local")
      absolute(cwd)
      yield* serve(cwd)
      const { code, text } = yield* inProcess("doctor", "--config", `${cwd}/wal.yaml`, "--json")
      assert.strictEqual(code, 0)
      assert.strictEqual(statuses(text)["disk lock"], "warning")
    }).pipe(Effect.provide(NodeServices.layer)))

  it.live("makes no directory for a store that is not there", () =>
    Effect.gen(function*() {
      const cwd = yield* configured("directory")
      const { code, text } = yield* inProcess("doctor", "--config", absolute(cwd))
      assert.strictEqual(code, 0, text)
      assert.match(text, /^skipped +store +.*store does not exist yet; make it/m)
      assert.deepStrictEqual(readdirSync(cwd), ["wal.yaml"])
    }).pipe(Effect.provide(NodeServices.layer)))

  for (const [own, other] of [["local", "directory"], ["directory", "local"]] as const) {
    it.live(`${own}: refuses the log of a ${other} store, as serve does`, () =>
      Effect.gen(function*() {
        const cwd = yield* configured(own)
        const segments = `${cwd}/store/n/orders/${other === "local" ? "~journal" : "segments"}`
        mkdirSync(segments, { recursive: true })
        const { code, text } = yield* inProcess("doctor", "--config", absolute(cwd), "--json")
        assert.strictEqual(code, 1, text)
        const row = parsed(text).find(({ check }: Row) => check === "store")
        assert.strictEqual(row.status, "failed")
        assert.include(row.found, `holds a log that type: ${other === "local" ? "local" : "object_store"}`)
      }).pipe(Effect.provide(NodeServices.layer)))
  }

  it.live("does not call a lock free that cannot be looked at", () =>
    Effect.gen(function*() {
      const cwd = yield* configured("local")
      mkdirSync(`${cwd}/store`)
      writeFileSync(`${cwd}/store/n`, "a file where a directory belongs")
      const { code, text } = yield* inProcess("doctor", "--config", absolute(cwd), "--json")
      assert.strictEqual(code, 1, text)
      assert.strictEqual(statuses(text)["disk lock"], "failed")
    }).pipe(Effect.provide(NodeServices.layer)))

  it.live("does not take an address for the store's where a variable names another", () =>
    Effect.gen(function*() {
      const double = yield* makeDouble()
      const { endpoint } = double.s3Options
      const text = s3Config(double.s3Options).replace(`endpoint: "${endpoint}"`, "region: us-east-1, path_style: true")
      const cwd = yield* configuredAs(text)
      const args = ["doctor", "--config", "wal.yaml", "--json"]
      const done = yield* cli(args, { cwd, env: { AWS_ENDPOINT_URL_S3: endpoint } })
      assert.strictEqual(done.code, 0, `${done.text}\n${done.err}`)
      assert.include(statuses(done.text), { address: "skipped", list: "ok", put: "ok", delete: "ok" })
    }).pipe(Effect.provide(NodeServices.layer)))

  it.live("checks a directory store, also its conditions", () =>
    Effect.gen(function*() {
      const cwd = yield* configured("directory")
      absolute(cwd)
      mkdirSync(`${cwd}/store`)
      const { code, text } = yield* inProcess("doctor", "--config", `${cwd}/wal.yaml`, "--json")
      assert.strictEqual(code, 0, text)
      const found = statuses(text)
      for (const check of ["put", "get", "listing", "conditional writes", "time of PUT", "delete"]) {
        assert.strictEqual(found[check], "ok", check)
      }
      assert.deepStrictEqual(readdirSync(`${cwd}/store/n/orders`), [])
    }).pipe(Effect.provide(NodeServices.layer)))

  it.live("checks a bucket: address, clock, permissions; and leaves nothing", () =>
    Effect.gen(function*() {
      const double = yield* makeDouble()
      const cwd = yield* configuredAs(s3Config(double.s3Options))
      const { code, err, text } = yield* inProcess("doctor", "--config", `${cwd}/wal.yaml`, "--json")
      assert.strictEqual(code, 0, `${text}\n${err}`)
      const found = statuses(text)
      for (const check of ["address", "clock", "list", "put", "get", "listing", "conditional writes", "delete"]) {
        assert.strictEqual(found[check], "ok", check)
      }
      assert.strictEqual(double.objects.size, 0)
      assert.notInclude(text, "some-secret")
    }).pipe(Effect.provide(NodeServices.layer)))

  it.live("ends with 1 where a permission is missing, and says which and what to do", () =>
    Effect.gen(function*() {
      const double = yield* makeDouble()
      double.rule((request) => request.operation === "put" ? errorAnswer(403, "AccessDenied") : undefined)
      const cwd = yield* configuredAs(s3Config(double.s3Options))
      const { code, text } = yield* inProcess("doctor", "--config", `${cwd}/wal.yaml`)
      assert.strictEqual(code, 1)
      assert.match(text, /^FAILED +put +AccessDenied/m)
      assert.include(text, "what to do: Allow s3:PutObject on arn:aws:s3:::")
      assert.match(text, /^1 failed, /m)
    }).pipe(Effect.provide(NodeServices.layer)))

  it.live("ends with 1 where nobody answers", () =>
    Effect.gen(function*() {
      const double = yield* Effect.scoped(makeDouble())
      const cwd = yield* configuredAs(s3Config(double.s3Options, "attempt_deadline: 2s, small_request_deadline: 2s, "))
      const { code, text } = yield* inProcess("doctor", "--config", `${cwd}/wal.yaml`)
      assert.strictEqual(code, 1, text)
      assert.match(text, /^FAILED +address/m)
      assert.match(text, /^FAILED +list/m)
      assert.match(text, /^skipped +put/m)
    }).pipe(Effect.provide(NodeServices.layer)))

  it.live("looks at one stream where it is told so, and does not know others", () =>
    Effect.gen(function*() {
      const cwd = yield* configured("local", ["a", "b"])
      absolute(cwd)
      const both = yield* inProcess("doctor", "--config", `${cwd}/wal.yaml`, "--json")
      assert.sameMembers([...new Set(parsed(both.text).map((row: Row) => row.stream))], ["a", "b"])
      const one = yield* inProcess("doctor", "--config", `${cwd}/wal.yaml`, "--stream", "b", "--json")
      assert.sameMembers([...new Set(parsed(one.text).map((row: Row) => row.stream))], ["b"])
      const other = yield* inProcess("doctor", "--config", `${cwd}/wal.yaml`, "--stream", "c")
      assert.strictEqual(other.code, 3)
      assert.include(other.err, "Name one of a, b")
      assert.isFalse(existsSync(`${cwd}/store`))
    }).pipe(Effect.provide(NodeServices.layer)))
})
