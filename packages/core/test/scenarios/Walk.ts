/**
 * Seeded walks of the real code: processes of one identity that open, append, commit, crash and meet a store that loses
 * answers, refuses, holds requests back and applies them late. At the end the world heals and one more process reads.
 */
import type { Fault, FaultyRequest } from "@effect-wal/testing/FaultyObjectStore"
import type { MemoryHandles } from "@effect-wal/testing/MemoryObjectStore"
import { MemoryObjectStore } from "@effect-wal/testing/MemoryObjectStore"
import * as MemorySpool from "@effect-wal/testing/MemorySpool"
import { assert } from "@effect/vitest"
import { Deferred, Effect, Exit, Fiber, Random, Stream } from "effect"
import { TestClock } from "effect/testing"
import type { WalService } from "../../src/WalService.ts"
import { advanceUntil, decode, drive, encode, type Process, World } from "./World.ts"

/** Mulberry32: small, seeded, good enough to choose faults. */
const generator = (seed: number) => {
  let state = seed >>> 0
  return (): number => {
    state = (state + 0x6d2b79f5) >>> 0
    let value = Math.imul(state ^ (state >>> 15), state | 1)
    value ^= value + Math.imul(value ^ (value >>> 7), value | 61)
    return ((value ^ (value >>> 14)) >>> 0) / 4294967296
  }
}

interface Actor {
  readonly host: number
  readonly process: Process
  readonly opening: Fiber.Fiber<WalService, unknown>
  dead: boolean
}

interface Walk {
  readonly world: World
  readonly random: () => number
  readonly actors: Array<Actor>
  readonly gates: Array<Deferred.Deferred<void>>
  /** What was acknowledged as durable: payload by number. */
  readonly acked: Map<number, string>
  /** What was acknowledged as spooled. */
  readonly spooled: Set<string>
  /** By host; empty in a walk without spools. */
  readonly spools: ReadonlyArray<MemorySpool.MemorySpool>
  /** The store takes nothing at all. */
  down: boolean
  /** Highest number that a commit was answered for. */
  committed: number
  healed: boolean
  names: number
  readonly violations: Array<string>
}

const gateOf = (walk: Walk) => {
  const gate = Deferred.makeUnsafe<void>()
  walk.gates.push(gate)
  return gate
}

const writeFault = (walk: Walk): Fault | undefined => {
  const dice = walk.random()
  if (dice < 0.05) return { _tag: "Fail", reason: "Unavailable" }
  if (dice < 0.11) return { _tag: "Fail", reason: "TimedOut", applied: true }
  if (dice < 0.15) return { _tag: "Ghost", reason: "TimedOut", gate: gateOf(walk) }
  if (dice < 0.18) return { _tag: "HoldBefore", gate: gateOf(walk) }
  if (dice < 0.21) return { _tag: "HoldAfter", gate: gateOf(walk) }
  return dice < 0.24 ? { _tag: "Fail", reason: "Conflict" } : undefined
}

const faultOf = (walk: Walk) => (request: FaultyRequest): Fault | undefined => {
  if (walk.healed) return undefined
  if (walk.down) return { _tag: "Fail", reason: "Unavailable" }
  if (request.operation === "create" || request.operation === "replace") return writeFault(walk)
  if (request.operation === "remove") {
    return walk.random() < 0.1
      ? { _tag: "Ghost", reason: "Unavailable", gate: gateOf(walk) }
      : undefined
  }
  return walk.random() < 0.05 ? { _tag: "Fail", reason: "Unavailable" } : undefined
}

/** One more process: on a host of its own, or, with spools, on one of few, where the process before it is killed first. */
const start = Effect.fnUntraced(function*(walk: Walk) {
  const host = walk.spools.length === 0 ? walk.actors.length : Math.floor(walk.random() * walk.spools.length)
  for (const actor of walk.actors) if (actor.host === host) kill(actor)
  const process = walk.world.process(`host-${host}`, {}, walk.spools[host])
  process.faults.rule(faultOf(walk))
  const opening = yield* Effect.forkChild(process.open(), { startImmediately: true })
  walk.actors.push({ host, process, opening, dead: false })
})

/** As `kill -9`: its fibers do nothing more that anybody sees, on the store or on the disk of its spool. */
const kill = (actor: Actor): void => {
  actor.process.crash()
  actor.dead = true
}

/** The open logs of processes that live. */
const logs = (walk: Walk): ReadonlyArray<WalService> =>
  walk.actors.flatMap((actor) => {
    const exit = actor.opening.pollUnsafe()
    return !actor.dead && exit !== undefined && Exit.isSuccess(exit) ? [exit.value] : []
  })

const append = Effect.fnUntraced(function*(walk: Walk, wal: WalService) {
  const count = 1 + Math.floor(walk.random() * 8)
  const texts = Array.from({ length: count }, () => `n${walk.names++}`)
  const appended = yield* Effect.exit(wal.appendNow(texts.map((text) => ({ payload: encode(text) }))))
  if (Exit.isFailure(appended)) return
  const { durable, first, spooled } = appended.value
  const kept = Effect.tap(spooled, () =>
    Effect.sync(() => {
      // Without a spool it is the same as durable, and checked there.
      if (walk.spools.length > 0) { for (const text of texts) walk.spooled.add(text) }
    }))
  yield* Effect.forkChild(Effect.exit(kept), { startImmediately: true })
  const noted = Effect.tap(durable, () =>
    Effect.sync(() => {
      texts.forEach((text, index) => {
        const before = walk.acked.get(first + index)
        if (before !== undefined && before !== text) walk.violations.push(`number ${first + index} names two records`)
        walk.acked.set(first + index, text)
      })
    }))
  yield* Effect.forkChild(Effect.exit(noted), { startImmediately: true })
})

const commit = Effect.fnUntraced(function*(walk: Walk, wal: WalService) {
  const { durable, state } = yield* wal.status
  if (state !== "open" || durable === 0) return
  const seq = Math.floor(walk.random() * (durable + 1))
  const done = yield* Effect.exit(wal.commit(seq))
  if (Exit.isSuccess(done)) walk.committed = Math.max(walk.committed, seq)
  if (walk.random() < 0.5) yield* Effect.forkChild(Effect.exit(wal.trim(seq)), { startImmediately: true })
})

const step = Effect.fnUntraced(function*(walk: Walk) {
  const dice = walk.random()
  const open = logs(walk)
  const wal = open[Math.floor(walk.random() * open.length)]
  if (dice < 0.08 || walk.actors.length === 0) yield* start(walk)
  else if (dice < 0.12) {
    const actor = walk.actors[Math.floor(walk.random() * walk.actors.length)]
    if (actor !== undefined) kill(actor)
  } else if (dice < 0.15 && walk.spools.length > 0) {
    walk.down = !walk.down
  } else if (dice < 0.3) {
    const gate = walk.gates.splice(Math.floor(walk.random() * walk.gates.length), 1)[0]
    if (gate !== undefined) yield* Deferred.succeed(gate, undefined)
  } else if (wal !== undefined) yield* dice < 0.85 ? append(walk, wal) : commit(walk, wal)
  yield* TestClock.adjust(`${Math.floor(walk.random() * 400)} millis`)
})

/** Every request that is held back or late is applied, in the order of the walk. */
const heal = Effect.fnUntraced(function*(walk: Walk) {
  walk.healed = true
  walk.down = false
  for (const gate of walk.gates.splice(0)) yield* Deferred.succeed(gate, undefined)
  yield* TestClock.adjust("10 seconds")
})

const check = Effect.fnUntraced(function*(walk: Walk, seed: number) {
  assert.deepStrictEqual(walk.violations, [], `seed ${seed}`)
  // Each host starts once more, and gives what its spool holds.
  for (const [host, disk] of walk.spools.entries()) {
    for (const actor of walk.actors) if (actor.host === host) kill(actor)
    const wal = yield* drive(walk.world.process(`host-${host}`, {}, disk).open())
    yield* drive(wal.flush)
    yield* advanceUntil(() => disk.held().length === 0)
    yield* drive(wal.close)
  }
  const last = walk.world.process("last")
  const wal = yield* drive(last.open())
  const { trimmedTo } = yield* wal.status
  assert.isAtMost(trimmedTo, walk.committed, `seed ${seed}: trimmed beyond what was committed`)
  const read = yield* drive(Stream.runCollect(wal.read()))
  const bySeq = new Map(read.map((record) => [record.seq, decode(record.payload)]))
  read.forEach((record, index) => assert.strictEqual(record.seq, trimmedTo + 1 + index, `seed ${seed}: a hole`))
  for (const [seq, text] of walk.acked) {
    if (seq > trimmedTo) assert.strictEqual(bySeq.get(seq), text, `seed ${seed}: record ${seq} was acknowledged`)
  }
  const texts = read.map((record) => decode(record.payload))
  assert.strictEqual(new Set(texts).size, texts.length, `seed ${seed}: a record under two numbers`)
  if (trimmedTo === 0) {
    for (const text of walk.spooled) assert.include(texts, text, `seed ${seed}: ${text} was acknowledged as spooled`)
  }
  const appended = yield* wal.append([{ payload: encode("after") }])
  yield* drive(appended.durable)
})

export interface WalkSettings {
  readonly options: ConstructorParameters<typeof World>[1]
  /** Hosts with a spool each; none: every process is a host without one. */
  readonly spools?: number
}

const walk = (memory: MemoryHandles, seed: number, { options, spools = 0 }: WalkSettings) =>
  Effect.gen(function*() {
    const state: Walk = {
      world: new World(memory, options),
      random: generator(seed),
      actors: [],
      gates: [],
      acked: new Map(),
      spooled: new Set(),
      spools: Array.from({ length: spools }, (_, host) =>
        MemorySpool.make({ id: `${host}`.padStart(32, "0"), path: `/spool-${host}`, afterMillis: 300 })),
      down: false,
      committed: 0,
      healed: false,
      names: 0,
      violations: []
    }
    for (let count = 0; count < 70; count++) {
      yield* step(state)
    }
    yield* heal(state)
    yield* check(state, seed)
    return { acked: state.acked.size, spooled: state.spooled.size }
  }).pipe(Random.withSeed(seed))

/** So many walks from a seed on; each must find the promises kept. Answers what was acknowledged in all of them. */
export const walks = Effect.fnUntraced(function*(from: number, count: number, settings: WalkSettings) {
  const sum = { acked: 0, spooled: 0 }
  for (let seed = from; seed < from + count; seed++) {
    // A fiber and a clock of its own: the killed processes of a walk, which still wait and have timers, end with it.
    const one = Effect.flatMap(MemoryObjectStore.make(), (memory) => walk(memory, seed, settings)).pipe(
      Effect.scoped,
      Effect.provide(TestClock.layer())
    )
    const { acked, spooled } = yield* Effect.flatMap(Effect.forkChild(one), Fiber.join)
    sum.acked += acked
    sum.spooled += spooled
  }
  return sum
})

/** More walks than CI takes: `EFFECT_WAL_WALKS=2000`. */
export const extraWalks = Number(process.env["EFFECT_WAL_WALKS"] ?? "0")
