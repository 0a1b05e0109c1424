/**
 * The texts below `deploy/` against the program: ports, paths, flags, settings, exit codes, S3 actions. No image is built
 * and no cluster is asked.
 */
import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it } from "@effect/vitest"
import { Duration, Effect, FileSystem, Schema } from "effect"
import { loadConfig } from "../../src/config/ServerConfig.ts"
import { routeOf } from "../../src/RequestCount.ts"
import { exitCodes } from "../../src/Shutdown.ts"
import { startProgram } from "../support/Process.ts"
import { documentsOf, instructions, textOf, unitValues } from "./Texts.ts"

const env = { HOSTNAME: "effect-wal-0", EFFECT_WAL_TOKEN: "a-token-of-some-length-0123456789abcdef" }

/** What is in force where nothing is said. */
const defaults = loadConfig({ text: "streams: [{ durability: { path: d } }]", env: {} })

const rootManifest = JSON.parse(textOf("package.json"))
const serverManifest = JSON.parse(textOf("packages/server/package.json"))

const isRoute = (path: string): boolean => routeOf(path) === path

describe("the Dockerfile", () => {
  const dockerfile = textOf("deploy/Dockerfile")
  const only = (name: string): string => {
    const found = instructions(dockerfile, name)
    assert.strictEqual(found.length, 1, name)
    return found[0] ?? ""
  }

  it.effect("serves the configuration that it brings, on its volume, at the port that it names", () =>
    Effect.gen(function*() {
      const copied = instructions(dockerfile, "COPY").find((copy) => copy.startsWith("deploy/"))?.split(" ")
      assert.strictEqual(copied?.[0], "deploy/container.yaml")
      assert.include(instructions(dockerfile, "ENV").join(), `EFFECT_WAL_CONFIG=${copied?.[1]}`)
      const { settings, streams } = yield* loadConfig({ text: textOf("deploy/container.yaml"), env })
      assert.strictEqual(only("EXPOSE"), String(settings.port))
      assert.strictEqual(settings.host, "0.0.0.0")
      assert.deepStrictEqual(settings.tokens.map(({ secret }) => secret), [{ env: "EFFECT_WAL_TOKEN" }])
      assert.deepInclude(streams[0]?.store, { type: "local", path: only("VOLUME") })
      assert.include(dockerfile, "-e EFFECT_WAL_TOKEN=")
    }))

  it.effect("is healthy while the server is alive, not only while it is ready", () =>
    Effect.gen(function*() {
      const { settings } = yield* defaults
      const [, port, path = ""] = /127\.0\.0\.1:(\d+)(\/[a-z]+)'/.exec(only("HEALTHCHECK [^\\n]*CMD")) ?? []
      assert.deepStrictEqual([Number(port), path], [settings.port, "/healthz"])
      assert.isTrue(isRoute(path))
    }))

  it("runs the command as somebody else than root, as the process that gets the signals", () => {
    assert.strictEqual(only("USER"), "node")
    const [command = ""] = JSON.parse(only("ENTRYPOINT"))
    assert.match(command, /^\/app\/node_modules\/\.bin\//)
    assert.include(Object.keys(serverManifest.publishConfig.bin), command.split("/").at(-1))
    assert.deepStrictEqual(JSON.parse(only("CMD")), ["serve"])
    assert.strictEqual(only("STOPSIGNAL"), "SIGTERM")
  })

  it("builds with the tools of this repository", () => {
    const versions = instructions(dockerfile, "FROM").map((from) => /^node:(\d+)-/.exec(from)?.[1])
    assert.deepStrictEqual(versions, ["24", "24"])
    assert.strictEqual(serverManifest.engines.node, ">=24")
    const pnpm = /pnpm@([\d.]+)/.exec(dockerfile)?.[1]
    assert.include(rootManifest.scripts.start, `pnpm@${pnpm} `)
    for (const [, script = ""] of dockerfile.matchAll(/&& pnpm (\w+)/g)) assert.property(rootManifest.scripts, script)
  })
})

describe("the systemd unit", () => {
  const unit = textOf("deploy/systemd/effect-wal.service")
  const only = (key: string): string => {
    const found = unitValues(unit, key)
    assert.strictEqual(found.length, 1, key)
    return found[0] ?? ""
  }

  it.effect("gives the server time to drain, restarts it, and not when the configuration is wrong", () =>
    Effect.gen(function*() {
      const { settings } = yield* defaults
      assert.isAbove(Number(only("TimeoutStopSec")), Duration.toSeconds(settings.drainTimeout) + 5)
      assert.deepStrictEqual([only("Type"), only("KillSignal"), only("Restart")], ["exec", "SIGTERM", "on-failure"])
      assert.strictEqual(only("RestartPreventExitStatus"), String(exitCodes.config))
      assert.strictEqual(only("StartLimitIntervalSec"), "0")
      assert.include(only("ExecReload"), "kill -HUP")
    }))

  it("names its configuration and writes below its own folder only", () => {
    assert.include(unitValues(unit, "Environment"), "EFFECT_WAL_CONFIG=/etc/effect-wal/wal.yaml")
    assert.strictEqual(only("WorkingDirectory"), `/var/lib/${only("StateDirectory")}`)
    assert.strictEqual(only("ProtectSystem"), "strict")
    // V8 makes code while it runs.
    // The engine compiles while it runs, and guards what it compiled by protection keys where the processor has them.
    assert.deepStrictEqual(unitValues(unit, "MemoryDenyWriteExecute"), [])
    assert.deepStrictEqual(only("SystemCallFilter").split(" "), ["@system-service", "@pkey"])
  })

  it.live("starts the command with flags that it has", () =>
    Effect.gen(function*() {
      const [path = "", ...args] = only("ExecStart").split(" ")
      assert.include(Object.keys(serverManifest.publishConfig.bin), path.split("/").at(-1))
      const cwd = yield* Effect.flatMap(FileSystem.FileSystem, (fs) => fs.makeTempDirectoryScoped())
      const help = yield* startProgram({ args: ["serve", "--help"], cwd })
      assert.strictEqual(yield* help.ended, 0)
      assert.deepStrictEqual(args.slice(0, 1), ["serve"])
      for (const flag of args.filter((arg) => arg.startsWith("--"))) assert.include(help.output(), flag)
    }).pipe(Effect.provide(NodeServices.layer)))
})

describe("the policies for S3", () => {
  const Policy = Schema.fromJsonString(Schema.Struct({
    Version: Schema.Literal("2012-10-17"),
    Statement: Schema.Array(Schema.Struct({
      Sid: Schema.String,
      Effect: Schema.Literal("Allow"),
      Action: Schema.Union([Schema.String, Schema.Array(Schema.String)]),
      Resource: Schema.String,
      Condition: Schema.optionalKey(Schema.Unknown)
    }))
  }))
  const actionsOf = (file: string): ReadonlyArray<string> =>
    Schema.decodeUnknownSync(Policy)(textOf(`deploy/iam/${file}.json`)).Statement.flatMap(({ Action }) => Action)

  /** What each command of the SDK needs: https://docs.aws.amazon.com/AmazonS3/latest/API/API_Operations.html */
  const actionOf: Readonly<Record<string, string>> = {
    PutObject: "s3:PutObject",
    GetObject: "s3:GetObject",
    HeadObject: "s3:GetObject",
    ListObjectsV2: "s3:ListBucket",
    DeleteObject: "s3:DeleteObject",
    DeleteObjects: "s3:DeleteObject",
    GetBucketLifecycleConfiguration: "s3:GetLifecycleConfiguration",
    GetBucketVersioning: "s3:GetBucketVersioning"
  }

  it("allow a writer exactly what the S3 store sends", () => {
    const sent = [...textOf("packages/s3/src/S3Client.ts").matchAll(/new (\w+)Command\(/g)].map((match) =>
      match[1] ?? ""
    )
    for (const command of sent) assert.property(actionOf, command)
    assert.sameMembers(Object.keys(actionOf), [...new Set(sent)])
    assert.sameMembers([...actionsOf("writer")], [...new Set(sent.map((command) => actionOf[command] ?? ""))])
  })

  it("leave out deletion, or everything but reading", () => {
    assert.sameMembers([...actionsOf("writer-without-delete"), "s3:DeleteObject"], [...actionsOf("writer")])
    assert.sameMembers([...actionsOf("reader")], ["s3:GetObject", "s3:ListBucket"])
    assert.sameMembers([...actionsOf("kms")], ["kms:GenerateDataKey", "kms:Decrypt"])
  })
})

describe("the configuration of Prometheus", () => {
  const Scrapes = Schema.Struct({
    rule_files: Schema.Array(Schema.String),
    scrape_configs: Schema.Array(Schema.Struct({
      job_name: Schema.String,
      metrics_path: Schema.String,
      static_configs: Schema.Array(Schema.Struct({ targets: Schema.Array(Schema.String) }))
    }))
  })

  it.effect("asks for /metrics at the port that a server has, under the name that the rules know", () =>
    Effect.gen(function*() {
      const { settings } = yield* defaults
      const [config] = documentsOf("deploy/prometheus/prometheus.yml").map((each) =>
        Schema.decodeUnknownSync(Scrapes)(each)
      )
      const [job] = config?.scrape_configs ?? []
      assert.isTrue(isRoute(job?.metrics_path ?? ""))
      assert.deepStrictEqual(job?.static_configs[0]?.targets, [`127.0.0.1:${settings.port}`])
      const rules = textOf(`deploy/prometheus/${config?.rule_files[0]}`)
      assert.include(rules, `up{job="${job?.job_name}"}`)
    }))
})
