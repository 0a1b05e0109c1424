/** Each example configuration, as it is shipped, in the real program: on this disk, or on S3 over real HTTP. */
import { make as makeDouble } from "@effect-wal/testing/HttpS3Double"
import { NodeServices } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Effect, FileSystem } from "effect"
import { startProgram } from "../support/Process.ts"
import { environmentOf, liveOnce, local, names, nowhere, onS3, pathOf, streamOf, temporary } from "./Examples.ts"

describe("examples/*.yaml, served", () => {
  it.live(`${local} keeps its records on this machine's disk`, () =>
    Effect.gen(function*() {
      const cwd = yield* temporary
      yield* liveOnce(local, { cwd, env: {} })
      assert.isTrue(yield* Effect.flatMap(FileSystem.FileSystem, (fs) => fs.exists(`${cwd}/data/wal/node-0/main`)))
    }).pipe(Effect.provide(NodeServices.layer)))

  it.live.each([...onS3])("%s keeps its records on S3, with the credentials of the environment", (name) =>
    Effect.gen(function*() {
      const double = yield* makeDouble()
      const cwd = yield* temporary
      yield* liveOnce(name, { cwd, env: environmentOf(double.s3Options, "some/prefix") })
      const node = name === "durability_smoke_test" ? "smoke-node" : "node-0"
      const strange = [...double.objects.keys()].filter((key) =>
        !key.startsWith(`some/prefix/${node}/${streamOf(name)}/`)
      )
      assert.deepStrictEqual(strange, [])
      assert.isAbove(double.count("put", "/segments/"), 1)
      assert.isTrue(double.requests.every((request) => request.accessKeyId === "double"))
      assert.deepStrictEqual(yield* Effect.flatMap(FileSystem.FileSystem, (fs) => fs.readDirectory(cwd)), [])
    }).pipe(Effect.provide(NodeServices.layer)))
})

describe("examples/*.yaml, printed", () => {
  it.live.each([...names])("config print of %s: each value with its line or its variable, no secret", (name) =>
    Effect.gen(function*() {
      const cwd = yield* temporary
      const program = yield* startProgram({
        args: ["config", "print", "--config", pathOf(name)],
        cwd,
        env: name === local ? {} : environmentOf(nowhere)
      })
      assert.strictEqual(yield* program.ended, 0, program.output())
      const printed = program.output()
      if (name === local) {
        assert.match(printed, /backend\.local\.path = "\.\/data\/wal" {2}# variable WAL_PATH \(.*\.yaml:17\)/)
      } else {
        assert.match(printed, /backend\.s3\.bucket = "my-bucket" {2}# variable S3_BUCKET \(.*\.yaml:\d+\)/)
        assert.match(printed, /backend\.s3\.secret_access_key = <redacted> {2}# variable AWS_SECRET_ACCESS_KEY /)
      }
      assert.notMatch(printed, /some-access-key|some-secret-key/)
    }).pipe(Effect.provide(NodeServices.layer)))
})
