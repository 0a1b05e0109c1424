/** Each kind of damage, done to a log of three epochs of 20 records in segments of 5, and what `verify` says of it. */
import { Effect } from "effect"
import { encodeEndMarker } from "../../src/format/SegmentCodec.ts"
import { nodeDigest } from "../../src/node/NodeDigest.ts"
import { encode, type World } from "../scenarios/World.ts"
import { bytesAt, rewrite } from "./Checked.ts"

export interface Harm {
  readonly name: string
  readonly harm: (world: World) => Effect.Effect<void>
  readonly found: ReadonlyArray<string>
  /** Numbers that cannot be read afterwards, inclusive. */
  readonly lost?: readonly [from: number, to: number]
}

const sync = (harm: (world: World) => void) => (world: World) => Effect.sync(() => harm(world))

const flipped = (at: number) => (bytes: Uint8Array) => {
  const index = at < 0 ? bytes.length + at : at
  bytes[index] = (bytes[index] ?? 0) ^ 1
  return bytes
}

const damaged = (epoch: number, slot: number, change: (bytes: Uint8Array) => Uint8Array) =>
  sync((world) => world.memory.damage(world.key(epoch, slot), change))

const removed = (...places: ReadonlyArray<readonly [number, number]>) =>
  sync((world) => {
    for (const [epoch, slot] of places) world.memory.objects.delete(world.key(epoch, slot))
  })

const swap = (world: World, left: string, right: string): void => {
  const kept = bytesAt(world, left)
  world.memory.put(left, bytesAt(world, right))
  world.memory.put(right, kept)
}

const otherLog = "e".repeat(32)

/** Damage that shows in the bytes of one segment. */
export const byteHarms: ReadonlyArray<Harm> = [
  {
    name: "a bit of the header",
    harm: damaged(1, 1, flipped(70)),
    found: ["segment-corrupt 1/1 6-10"],
    lost: [6, 10]
  },
  {
    name: "a bit of the version",
    harm: damaged(1, 2, flipped(9)),
    found: ["segment-corrupt 1/2 11-15"],
    lost: [11, 15]
  },
  { name: "a bit of the body", harm: damaged(2, 2, flipped(-5)), found: ["segment-corrupt 2/2 31-35"], lost: [31, 35] },
  {
    name: "the last bytes are cut",
    harm: damaged(3, 1, (bytes) => bytes.subarray(0, bytes.length - 7)),
    found: ["segment-corrupt 3/1 46-50"],
    lost: [46, 50]
  },
  {
    name: "nothing is left but a name",
    harm: damaged(2, 1, () => encode("")),
    found: ["segment-corrupt 2/1 26-30"],
    lost: [26, 30]
  },
  {
    name: "somebody's zip file",
    harm: damaged(1, 0, () => Uint8Array.of(0x50, 0x4b, 3, 4)),
    found: ["segment-corrupt 1/0 1-5"],
    lost: [1, 5]
  },
  {
    name: "two damaged segments in a row: one loss",
    harm: (world) => Effect.andThen(damaged(2, 1, flipped(13))(world), damaged(2, 2, flipped(20))(world)),
    found: ["segment-corrupt 2/1 26-35", "segment-corrupt 2/2"],
    lost: [26, 35]
  },
  {
    name: "the last segment of an ended epoch",
    harm: damaged(1, 3, flipped(66)),
    found: ["segment-corrupt 1/3 16-20"],
    lost: [16, 20]
  },
  {
    name: "the body of the last segment of the live epoch",
    harm: damaged(3, 3, flipped(-1)),
    found: ["segment-corrupt 3/3 56-60"],
    lost: [56, 60]
  }
]

/** Objects that are in the wrong place, or not there. */
export const placeHarms: ReadonlyArray<Harm> = [
  {
    name: "two segments of one epoch are swapped",
    harm: sync((world) => swap(world, world.key(1, 1), world.key(1, 2))),
    found: ["segment-misplaced 1/1 6-15", "segment-misplaced 1/2"],
    lost: [6, 15]
  },
  {
    name: "two segments of different epochs are swapped",
    harm: sync((world) => swap(world, world.key(1, 1), world.key(2, 1))),
    found: ["segment-misplaced 1/1 6-10", "segment-misplaced 2/1 26-30"]
  },
  {
    name: "a segment stands under another slot too",
    harm: sync((world) => world.memory.put(world.key(1, 2), bytesAt(world, world.key(1, 1)))),
    found: ["segment-misplaced 1/2 11-15"],
    lost: [11, 15]
  },
  {
    name: "a segment of another log",
    harm: (world) => rewrite(world, { epoch: 2, slot: 2 }, (header) => ({ ...header, logId: otherLog })),
    found: ["segment-misplaced 2/2 31-35"],
    lost: [31, 35]
  },
  {
    name: "an end marker in the middle",
    harm: (world) =>
      Effect.map(world.manifest, ({ log_id: logId }) => {
        const place = { logId, epoch: 1, slot: 1 }
        const marker = { ...place, nonce: "0".repeat(32), owner: { epoch: 2, host: "x" } }
        world.memory.put(world.key(1, 1), encodeEndMarker(marker, nodeDigest))
      }),
    found: ["segment-misplaced 1/1 6-10"],
    lost: [6, 10]
  },
  { name: "the first slot is missing", harm: removed([1, 0]), found: ["segment-missing 1/0 1-5"], lost: [1, 5] },
  {
    name: "a slot in the middle is missing",
    harm: removed([2, 2]),
    found: ["segment-missing 2/2 31-35"],
    lost: [31, 35]
  },
  {
    name: "the last slot of an ended epoch is missing",
    harm: removed([2, 3]),
    found: ["segment-missing 2/3 36-40"],
    lost: [36, 40]
  },
  {
    name: "the first slots of the live epoch are missing",
    harm: removed([3, 0], [3, 1]),
    found: ["segment-missing 3/0 41-50", "segment-missing 3/1"],
    lost: [41, 50]
  },
  {
    name: "a whole ended epoch is missing",
    harm: removed([2, 0], [2, 1], [2, 2], [2, 3]),
    found: ["segment-missing 2/0 21-40", "segment-missing 2/1", "segment-missing 2/2", "segment-missing 2/3"],
    lost: [21, 40]
  }
]

/** Lies with right checksums: only neighbours and the manifest show them. */
export const lies: ReadonlyArray<Harm> = [
  {
    name: "a chain that does not follow",
    harm: (world) => rewrite(world, { epoch: 1, slot: 1 }, (header) => ({ ...header, chain: "a".repeat(32) })),
    found: ["chain-broken 1/1 6-10", "chain-broken 1/2 11-15"]
  },
  {
    name: "numbers that were given out before",
    harm: (world) => rewrite(world, { epoch: 1, slot: 2 }, (header) => ({ ...header, firstSeq: 6, watermarkSeq: 5 })),
    found: ["sequence-doubled 1/2", "sequence-gap 1/3 11-15"]
  },
  {
    name: "numbers that are left out",
    harm: (world) => rewrite(world, { epoch: 1, slot: 2 }, (header) => ({ ...header, firstSeq: 111 })),
    found: ["sequence-gap 1/2 11-110", "sequence-doubled 1/3"]
  },
  {
    name: "another writer in one epoch",
    harm: (world) => rewrite(world, { epoch: 1, slot: 2 }, (header) => ({ ...header, nonce: "b".repeat(32) })),
    found: ["segment-misplaced 1/2"]
  },
  {
    name: "a count that the body does not have",
    harm: (world) => rewrite(world, { epoch: 1, slot: 2 }, (header) => ({ ...header, count: 4 })),
    found: ["segment-corrupt 1/2 11-14", "sequence-gap 1/3 15-15"]
  },
  {
    name: "times that its records do not have",
    harm: (world) => rewrite(world, { epoch: 1, slot: 2 }, (header) => ({ ...header, firstAt: header.firstAt - 1 })),
    found: ["segment-corrupt 1/2", "chain-broken 1/3 16-20"]
  },
  {
    name: "a watermark above its own slot",
    harm: (world) => rewrite(world, { epoch: 1, slot: 2 }, (header) => ({ ...header, watermarkSlot: 3 })),
    found: ["segment-corrupt 1/2"]
  }
]
