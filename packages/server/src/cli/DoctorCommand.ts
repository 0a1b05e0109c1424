/** `effect-wal doctor`: whether a configuration's stores and disks can hold its logs, check by check. */
import { probeKey } from "@effect-wal/core/format/ObjectKey"
import { logPrefix } from "@effect-wal/core/LogId"
import { DirectoryObjectStore, DiskFile, StoreLayout } from "@effect-wal/core/node"
import { S3ObjectStore } from "@effect-wal/s3"
import { Console, Effect, type Option, Result } from "effect"
import { Command, Flag } from "effect/cli"
import { FetchHttpClient } from "effect/http"
import { rmdir } from "node:fs/promises"
import { dirname, join } from "node:path"
import { s3Options } from "../config/S3Settings.ts"
import type { ServerConfig, StreamConfig } from "../config/ServerConfig.ts"
import { configFlag, loadNamedConfig } from "./ConfigFlag.ts"
import { addressChecks, addressOf } from "./doctor/AddressCheck.ts"
import { type CheckResult, good, printResult, skipped, summary, type Tell } from "./doctor/Check.ts"
import { diskChecks, type DiskCheckup } from "./doctor/DiskChecks.ts"
import { storeChecks } from "./doctor/StoreChecks.ts"
import { environment } from "./Environment.ts"
import { exitWith, untilSignal } from "./ExitCode.ts"
import { runHandler } from "./Handler.ts"
import { Json } from "./Output.ts"
import { countFlag, sizeFlag } from "./QuantityFlags.ts"
import { chooseStream, streamFlag } from "./StreamFlag.ts"

interface DoctorInput {
  readonly config: Option.Option<string>
  readonly stream: Option.Option<string>
  readonly tries: number
  readonly objectBytes: number
}

/** So much should be free on the disk of a local log: several of its files. */
const filesWanted = 16

/** Where a log keeps its files below its prefix, and the file that it locks there. */
const lockIn = (path: string, prefix: string, journal: "~journal" | "~spool"): string =>
  join(path, prefix, journal, "lock")

const diskOf = (stream: StreamConfig, tries: number, tell: Tell): DiskCheckup | undefined => {
  const { options, store } = stream
  const common = { name: "disk", tries, tell }
  switch (store.type) {
    case "s3":
      return undefined
    case "local":
      return {
        ...common,
        path: store.path,
        lockFile: lockIn(store.path, logPrefix(options), "~journal"),
        wantedBytes: filesWanted * store.maxFileBytes,
        allowNetwork: false
      }
    case "directory":
      return {
        ...common,
        path: store.path,
        wantedBytes: filesWanted * options.segment.maxBytes,
        allowNetwork: store.allowNetworkFileSystem
      }
  }
}

type S3Settings = Extract<StreamConfig["store"], { readonly type: "s3" }>
type DiskSettings = Exclude<StreamConfig["store"], S3Settings>

const checkAddress = Effect.fnUntraced(function*(settings: S3Settings, tell: Tell) {
  const address = addressOf(settings, environment())
  if (address === undefined) return
  if ("url" in address) return yield* addressChecks(address, tell)
  yield* tell(skipped("address", `it is that of ${address.variable}, which the checks below ask`))
})

const isThere = Effect.fnUntraced(function*(path: string) {
  const disk = yield* DiskFile.DiskFile
  return yield* disk.stat(path).pipe(Effect.as(true), Effect.catch(({ code }) => Effect.succeed(code !== "ENOENT")))
})

/** Whether a store can be tried in the directory: it is what `serve` would open, and is there already. */
const canTry = Effect.fnUntraced(function*({ path, type }: DiskSettings, prefix: string, tell: Tell) {
  yield* StoreLayout.refuseOtherLayout(type, path, prefix)
  if (type === "local") return false
  if (yield* isThere(path)) return true
  // A store would make it: one that was mistyped too, and it would stay.
  yield* tell(skipped("store", `${path} does not exist yet; make it to have the store in it checked`))
  return false
})

/** The directory of the objects of checks. Another program's probe that is in it just now keeps it. */
const removeProbe = ({ path }: DiskSettings, prefix: string) =>
  Effect.ignore(Effect.tryPromise(() => rmdir(dirname(join(path, probeKey(prefix, "", ""))))))

const checkStore = Effect.fnUntraced(function*(stream: StreamConfig, input: DoctorInput, tell: Tell) {
  const { options, store: settings } = stream
  const prefix = logPrefix(options)
  if (settings.type === "s3") yield* checkAddress(settings, tell)
  else if (!(yield* canTry(settings, prefix, tell))) return
  if (settings.type === "local") return
  const store = yield* settings.type === "s3"
    ? S3ObjectStore.make(s3Options(settings))
    : DirectoryObjectStore.make({ path: settings.path, allowNetworkFileSystem: settings.allowNetworkFileSystem })
  yield* storeChecks({
    store,
    options,
    prefix,
    place: { bucket: settings.type === "s3" ? settings.bucket : undefined, prefix },
    tell,
    tries: input.tries,
    objectBytes: input.objectBytes
  }).pipe(Effect.ensuring(settings.type === "s3" ? Effect.void : removeProbe(settings, prefix)))
})

const checkStream = Effect.fnUntraced(function*(stream: StreamConfig, input: DoctorInput, tell: Tell) {
  const disk = diskOf(stream, input.tries, tell)
  if (disk !== undefined) yield* diskChecks(disk)
  const { options, spool } = stream
  if (spool !== undefined) {
    yield* diskChecks({
      name: "spool",
      path: spool.path,
      lockFile: lockIn(spool.path, logPrefix(options), "~spool"),
      wantedBytes: spool.maxBytes,
      allowNetwork: false,
      tries: input.tries,
      tell
    })
  }
  const checked = yield* Effect.result(Effect.scoped(checkStore(stream, input, tell)))
  if (Result.isFailure(checked)) {
    yield* tell({
      check: "store",
      status: "failed",
      found: checked.failure.message,
      means: "the store cannot be opened, so no log opens in it",
      next: "Correct the settings of the store."
    })
  }
})

const noticeRow = (found: string): CheckResult => ({
  check: "configuration",
  status: "warning",
  found,
  means: "it is accepted, but does not do what it seems to, or has a price",
  next: "Change the setting, or leave it knowingly."
})

const streamsOf = (config: ServerConfig, input: DoctorInput) =>
  input.stream._tag === "None" && config.streams.length > 0
    ? Effect.succeed(config.streams)
    : Effect.map(chooseStream(config, input.stream), (stream) => [stream])

const doctor = Effect.fnUntraced(
  function*(input: DoctorInput) {
    const config = yield* loadNamedConfig(input.config)
    const json = yield* Json
    const all: Array<CheckResult> = []
    for (const stream of yield* streamsOf(config, input)) {
      if (!json) yield* Console.log(`stream ${stream.id}, ${logPrefix(stream.options)}`)
      const tell: Tell = (result) => {
        all.push(result)
        return Effect.provideService(printResult(stream.id, result), Json, json)
      }
      yield* tell(good("configuration", `${config.source} is valid`))
      yield* Effect.forEach(stream.notices, (notice) => tell(noticeRow(notice)), { discard: true })
      yield* checkStream(stream, input, tell)
      if (!json) yield* Console.log("")
    }
    if (!json) yield* Console.log(summary(all))
    if (all.some(({ status }) => status === "failed")) return yield* exitWith("failed")
  },
  Effect.provide(FetchHttpClient.layer),
  untilSignal,
  runHandler
)

const flags = {
  config: configFlag,
  stream: streamFlag.pipe(Flag.withDescription("Only this stream; default: all of the configuration")),
  tries: countFlag("tries", 1, 1_000).pipe(
    Flag.withDescription("Requests and syncs of each kind whose times are taken; default: 10"),
    Flag.withDefault(10)
  ),
  objectBytes: sizeFlag("object-bytes").pipe(
    Flag.filter((bytes) => bytes <= 67_108_864, () => "Expected: at most 64MiB"),
    Flag.withDescription("Size of the objects whose times are taken; default: 1024"),
    Flag.withDefault(1_024)
  )
}

/** The command. */
export const doctorCommand = Command.make("doctor", flags, doctor).pipe(
  Command.withDescription(
    "Check whether the configured stores and disks can hold the logs: address and clock, each permission, what is read " +
      "after a write, listings, conditional writes, times, settings of the bucket, disk space and syncs, locks. Each row " +
      "says ok, warning or FAILED, what it means and what to do. Some small objects are stored below probe/ of the log's " +
      "prefix and removed; a running server is not disturbed, and a directory that does not exist is not made. Ends with 1 " +
      "where something has failed."
  ),
  Command.withShortDescription("Check stores, permissions, clocks and disks"),
  Command.withExamples([
    { command: "effect-wal doctor --config wal.yaml", description: "All streams of a configuration" },
    {
      command: "effect-wal doctor --config wal.yaml --stream orders --object-bytes 1MiB --tries 50",
      description: "With times of large objects"
    },
    {
      command: "effect-wal doctor --config wal.yaml --json | jq 'select(.status != \"ok\")'",
      description: "Only what is not ok"
    }
  ])
)
