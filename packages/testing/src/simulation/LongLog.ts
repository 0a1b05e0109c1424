/**
 * A log that has been opened more often than a manifest lists ends: what some walks start with. It is written once, by the
 * real code in a world where nothing goes wrong.
 */
import type { DigestService } from "@effect-wal/core/codec/Digest"
import { maxEnds } from "@effect-wal/core/format/ManifestCodec"
import { Effect } from "effect"
import { recordOf } from "./Payload.ts"
import { SeededRandom } from "./SeededRandom.ts"
import { makeStore } from "./SimStore.ts"
import { drawSettings, type WalkSettings } from "./WalkSettings.ts"
import { World } from "./World.ts"

/** Ids of its records: no walk gets so far. */
const firstLongId = 0x8000_0000
/** As many as still fit: the next openings move the oldest to an archive. */
const epochs = maxEnds

type StoredObjects = ReadonlyArray<readonly [key: string, body: Uint8Array]>

const healthySettings = (random: SeededRandom): WalkSettings => {
  const drawn = drawSettings(random)
  return {
    ...drawn,
    options: { nodeId: "node", streamId: "log", retention: { policy: "keep" }, segment: { linger: "0ms" } },
    hosts: 1,
    spoolBytes: undefined
  }
}

const writeLongLog = (digest: DigestService): StoredObjects => {
  const random = new SeededRandom(1)
  const world = new World(healthySettings(random), { random, digest, keepTrace: false, makeStore, answers: undefined })
  world.network.heal()
  const [host] = world.hosts
  for (let epoch = 1; epoch <= epochs && host !== undefined; epoch++) {
    const writer = world.open(host)
    const { wal } = writer
    if (wal === undefined) throw new Error(`epoch ${epoch} was not opened: ${writer.problem}`)
    const append = wal.append([recordOf(firstLongId + epoch, 4)])
    world.ask(writer, "append", Effect.flatMap(append, ({ durable }) => durable))
    world.kill(writer)
  }
  return [...world.bucket.objects].map(([key, { body }]) => [key, body])
}

/** Its objects, written when they are asked for: that takes a second or two. */
export class LongLog {
  private readonly digest: DigestService
  private written: StoredObjects | undefined

  constructor(digest: DigestService) {
    this.digest = digest
  }

  get objects(): StoredObjects {
    this.written ??= writeLongLog(this.digest)
    return this.written
  }
}
