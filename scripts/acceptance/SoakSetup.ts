/** What the soak runs on: the store and the ways to it, two small disks, three logs and the configurations of their servers. */
import { mkdirSync } from "node:fs"
import { join } from "node:path"
import { FaultProxy } from "./FaultProxy.ts"
import { Gateway } from "./Gateway.ts"
import { anotherMachine } from "./Machine.ts"
import { workFolder } from "./Places.ts"
import { type Run, seededChance } from "./Run.ts"
import { ServerProcess, writeConfig } from "./ServerProcess.ts"
import { SmallDisk } from "./SmallDisk.ts"
import { Contested } from "./SoakFaults.ts"
import { SoakLog } from "./SoakLog.ts"
import { localStore, s3Block } from "./Store.ts"

/** Deadline of a request to the store, and the longest time that the proxy holds one back. */
const deadlineMillis = 2_000
const longestDelayMillis = 12_000

/**
 * JavaScript heap of the server that is watched. Without a bound V8 collects when it likes to, and its nursery, which grows
 * for a long time, looks like a leak in the resident memory.
 */
const boundedHeap = "NODE_OPTIONS=--max-old-space-size=128 --max-semi-space-size=4"

/** Size of each of the two disks. */
const diskMiB = 96

/** What all logs have: small segments and buffers, and records that go once they are committed. */
const common = {
  segment_tuning: { strategy: "balanced", flush_interval: "400ms", linger: "60ms" },
  retention: { policy: "committed" },
  manifest: { max_delay: "1s" },
  cursor: { interval: "500ms" },
  producers: { ttl: "5m" },
  max_buffered_bytes: "8MiB",
  max_record_bytes: "1MiB",
  max_segment_bytes: "8MiB",
  tail_buffer_bytes: "2MiB"
}

const limits = { limits: { ack_timeout: "3s", room_timeout: "2s" } }

export interface Soak {
  readonly run: Run
  readonly gateway: Gateway
  /** The ways to the store: of the pair, and of the steady server. */
  readonly proxies: ReadonlyArray<FaultProxy>
  readonly spoolDisk: SmallDisk
  readonly localDisk: SmallDisk
  /** Two servers with one identity, each with a spool of its own that the other one cannot see, as on two machines. */
  readonly pair: Contested
  /** One server that lives for the whole run. */
  readonly steady: Contested
  /** A local log on a disk of its own. */
  readonly local: Contested
  /** Chance for one part of the run, apart from that of the others. */
  readonly chance: () => () => number
  /** Prefix of a log in the bucket. */
  readonly prefixes: { readonly pair: string; readonly steady: string }
}

const smallDisk = (run: Run, folder: string, name: string): SmallDisk => {
  const parent = join(folder, name)
  mkdirSync(parent)
  return new SmallDisk(run, parent, diskMiB)
}

/** Starts the store and the proxies, mounts the disks, writes the configurations; no server runs yet. */
export const setUp = async (run: Run, seed: number): Promise<Soak> => {
  const seeds = seededChance(seed)
  const chance = () => seededChance(Math.floor(seeds() * 2 ** 32))
  const folder = workFolder(run)
  const spoolDisk = smallDisk(run, folder, "spools")
  const localDisk = smallDisk(run, folder, "local")
  const gateway = await Gateway.open(run)
  const wayToStore = async () => {
    const proxy = new FaultProxy(gateway.s3.endpoint, chance(), { deadlineMillis, longestMillis: longestDelayMillis })
    await proxy.listen(run)
    return proxy
  }
  const ways = { pair: await wayToStore(), steady: await wayToStore() }
  const spoolOf = (name: string) => join(spoolDisk.path, name)
  const onS3 = (name: string, proxy: FaultProxy, prefix: string, before: ReadonlyArray<string> = []) => {
    const { s3 } = s3Block({ ...gateway.s3, endpoint: proxy.url })
    const config = writeConfig(folder, name, {
      ...common,
      prefix,
      s3: {
        ...s3,
        attempt_deadline: `${deadlineMillis}ms`,
        small_request_deadline: `${deadlineMillis}ms`,
        connect_timeout: "1s"
      },
      parallel_put: { workers: 2, pipeline_depth: 2 },
      compression: { type: "zstd" },
      retry: { base: "20ms", cap: "500ms" },
      spool: { path: spoolOf(name), max_bytes: "64MiB", after: "300ms" }
    }, limits)
    return () => new ServerProcess(run, config, join(folder, `${name}.log`), before)
  }
  for (const name of ["pair-a", "pair-b"]) mkdirSync(spoolOf(name))
  const localConfig = writeConfig(folder, "local-log", {
    ...common,
    ...localStore(join(localDisk.path, "wal")).block,
    manifest: { max_delay: "1s", max_segments: 32 }
  }, limits)
  const prefixes = { pair: `soak-pair-${seed}`, steady: `soak-steady-${seed}` }
  return {
    run,
    gateway,
    proxies: Object.values(ways),
    spoolDisk,
    localDisk,
    pair: new Contested(new SoakLog(run, "pair"), [
      onS3("pair-a", ways.pair, prefixes.pair, anotherMachine("machine-a", spoolOf("pair-b"))),
      onS3("pair-b", ways.pair, prefixes.pair, anotherMachine("machine-b", spoolOf("pair-a")))
    ]),
    steady: new Contested(new SoakLog(run, "steady"), [
      onS3("steady", ways.steady, prefixes.steady, ["env", boundedHeap])
    ]),
    local: new Contested(new SoakLog(run, "local"), [
      () => new ServerProcess(run, localConfig, join(folder, "local.log"))
    ]),
    chance,
    prefixes
  }
}
