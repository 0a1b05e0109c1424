/** Logs made at random, one damage at random: it is found or harmless, and a repair loses nothing else. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { parseSlotKey } from "../../src/format/ObjectKey.ts"
import { drive, encode, makeWorld, prefix, records, store, type World } from "../scenarios/World.ts"
import { makeRandom } from "../support/Seeded.ts"
import { bytesAt, check, short } from "../verify/Checked.ts"
import { planOf, readSkipping, repaired } from "./Repaired.ts"

type Random = () => number

const below = (random: Random, count: number) => Math.floor(random() * count)

/** One to five epochs, killed, closed or fenced, with trims and commits; answers what was acknowledged and is not trimmed. */
const makeLog = Effect.fnUntraced(function*(random: Random) {
  const world = yield* makeWorld({
    retention: { policy: random() < 0.5 ? "committed" : "keep" },
    parallelPut: { workers: 1 + below(random, 3) },
    segment: { maxEntries: 1 + below(random, 6), linger: "0ms" },
    manifest: { maxSegments: 1 + below(random, 20) }
  })
  let last = 0
  let committed = 0
  const epochs = 1 + below(random, 5)
  for (let epoch = 1; epoch <= epochs; epoch++) {
    const process = world.process(`w${epoch}`)
    const wal = yield* drive(process.open())
    for (let batch = below(random, 5); batch > 0; batch--) {
      const count = 1 + below(random, 12)
      yield* store(wal, records(count, last + 1))
      last += count
      if (random() < 0.3) {
        const seq = below(random, last + 1)
        yield* wal.commit(seq)
        committed = Math.max(committed, seq)
      }
      if (random() < 0.2) yield* drive(wal.trim(last))
    }
    if (random() < 0.5) yield* drive(wal.close)
    else process.crash()
  }
  const { trim } = yield* world.manifest
  return { world, trimmedTo: trim.seq, last, committed }
})

/** One thing that goes wrong; `undefined`: there was nothing of the kind. */
const harmOne = (world: World, random: Random): string | undefined => {
  const keys = [...world.memory.objects.keys()].filter((key) => key.startsWith(prefix)).sort()
  const slots = keys.filter((key) => parseSlotKey(prefix, key) !== undefined)
  const dice = random()
  const key = dice < 0.15 ? `${prefix}manifest.json` : slots[below(random, slots.length)]
  if (key === undefined) return undefined
  const body = bytesAt(world, key)
  const kind = below(random, 5)
  if (kind === 0) world.memory.objects.delete(key)
  else if (kind === 1) {
    world.memory.damage(key, (bytes) => {
      const at = below(random, bytes.length)
      bytes[at] = (bytes[at] ?? 0) ^ (1 << below(random, 8))
      return bytes
    })
  } else if (kind === 2) world.memory.put(key, body.slice(0, below(random, body.length)))
  else if (kind === 3) {
    const other = slots[below(random, slots.length)] ?? key
    if (key.endsWith("manifest.json") || other === key) return undefined
    world.memory.put(key, bytesAt(world, other))
    world.memory.put(other, body)
  } else world.memory.put(key, encode("something else"))
  return `${["deleted", "flipped", "cut", "swapped", "written over"][kind]} ${key}`
}

/** What a reader delivers of records, without the lost ranges. */
const delivered = (read: ReadonlyArray<string>) => new Set(read.filter((one) => !one.startsWith("lost")))

const plannable = (world: World) =>
  planOf(world).pipe(
    Effect.as({} as const),
    Effect.catchTag(
      "RepairUndecided",
      () => Effect.as(planOf(world, { missing: "lost" }), { missing: "lost" } as const)
    )
  )

const walk = Effect.fnUntraced(function*(seed: number) {
  const random = makeRandom(seed)
  const { committed, last, trimmedTo, world } = yield* makeLog(random)
  assert.deepStrictEqual((yield* check(world)).findings.map(short), [], `seed ${seed}: before`)
  const before = new Map(world.memory.objects)
  const what = harmOne(world, random)
  if (what === undefined) return { found: 0, lost: 0 }
  const where = `seed ${seed}: ${what}`
  const { findings } = yield* check(world)
  const isGone = (seq: number) =>
    findings.some(({ lost }) => lost !== undefined && lost.from <= seq && (seq <= lost.to || !lost.exact))
  // A manifest says where the log starts and ends: without it, or with another one, only what is stored can be asked for.
  const isManifest = what.endsWith("manifest.json")
  // The last segment of a log that was killed, when no later object and no manifest knows it: nothing that is left can tell.
  const lastSlot = [...before.keys()].filter((key) => parseSlotKey(prefix, key) !== undefined).sort().at(-1)
  const isUnknowable = what === `deleted ${lastSlot}` && findings.length === 0
  const decisions = yield* plannable(world)
  yield* repaired(world, decisions)
  const read = yield* readSkipping(world)
  const texts = delivered(read)
  let lost = 0
  // The next writer may have trimmed what was committed.
  const from = Math.max(trimmedTo, (yield* world.manifest).trim.seq)
  assert.isAtMost(from, Math.max(trimmedTo, committed), where)
  for (let seq = from + 1; seq <= last; seq++) {
    if (texts.has(`${seq}:r${seq}`)) continue
    lost++
    assert.isTrue(isGone(seq) || isUnknowable, `${where}: record ${seq} is not read, and was not told to be lost`)
  }
  for (const text of texts) {
    const [seq, name] = text.split(":")
    assert.strictEqual(name, `r${seq}`, `${where}: another record under its number`)
  }
  if (findings.length === 0 && !isManifest && !isUnknowable) assert.strictEqual(lost, 0, `${where}: nothing was found`)
  return { found: findings.length === 0 ? 0 : 1, lost: lost === 0 ? 0 : 1 }
})

describe("logs made at random", () => {
  it.effect(
    "one damage each: found or harmless; after the repair all else is read, and the log goes on",
    () =>
      Effect.gen(function*() {
        const sum = { found: 0, lost: 0 }
        for (let seed = 1; seed <= 40; seed++) {
          const { found, lost } = yield* walk(seed)
          sum.found += found
          sum.lost += lost
        }
        assert.isAbove(sum.found, 20)
        assert.isAbove(sum.lost, 3)
      }),
    180_000
  )
})
