/**
 * Seeded walks of producers that repeat each call until it is answered as durable, over processes of one identity that
 * crash, take over from each other and meet a store that loses answers, refuses and applies requests late.
 *
 * At the end each call that was answered is in the log once, under the numbers of every answer; no call is there twice.
 */
import type { FaultyRequest } from "@effect-wal/testing/FaultyObjectStore"
import { MemoryObjectStore } from "@effect-wal/testing/MemoryObjectStore"
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Exit, type Fiber, Random, Stream } from "effect"
import { TestClock } from "effect/testing"
import type { WalService } from "../../src/WalService.ts"
import { makeRandom } from "../support/Seeded.ts"
import { decode, drive, encode, type Options, type Process, World } from "./World.ts"

interface Actor {
  readonly process: Process
  readonly opening: Fiber.Fiber<WalService, unknown>
  dead: boolean
}

interface Client {
  readonly id: string
  /** The lowest call that was not answered. */
  next: number
  busy: boolean
}

interface Walk {
  readonly world: World
  readonly random: () => number
  readonly actors: Array<Actor>
  readonly clients: ReadonlyArray<Client>
  readonly gates: Array<Deferred.Deferred<void>>
  /** First number by call, as it was answered. */
  readonly answered: Map<string, number>
  readonly violations: Array<string>
  repeats: number
  healed: boolean
}

const texts = (id: string, sequence: number): ReadonlyArray<string> =>
  Array.from({ length: 1 + sequence % 3 }, (_, index) => `${id}.${sequence}.${index}`)

const faultOf = (walk: Walk) => ({ operation }: FaultyRequest) => {
  if (walk.healed || operation === "remove") return undefined
  const dice = walk.random()
  const isWrite = operation === "create" || operation === "replace"
  if (!isWrite) return dice < 0.05 ? { _tag: "Fail", reason: "Unavailable" } as const : undefined
  if (dice < 0.06) return { _tag: "Fail", reason: "TimedOut", applied: true } as const
  if (dice < 0.1) return { _tag: "Fail", reason: "Unavailable" } as const
  if (dice >= 0.2) return undefined
  const held = Deferred.makeUnsafe<void>()
  walk.gates.push(held)
  if (dice < 0.14) return { _tag: "Ghost", reason: "TimedOut", gate: held } as const
  return { _tag: dice < 0.17 ? "HoldBefore" : "HoldAfter", gate: held } as const
}

const startProcess = Effect.fnUntraced(function*(walk: Walk) {
  const process = walk.world.process(`host-${walk.actors.length}`)
  process.faults.rule(faultOf(walk))
  const opening = yield* Effect.forkChild(process.open(), { startImmediately: true })
  walk.actors.push({ process, opening, dead: false })
})

const logs = (walk: Walk): ReadonlyArray<WalService> =>
  walk.actors.flatMap((actor) => {
    const exit = actor.opening.pollUnsafe()
    return !actor.dead && exit !== undefined && Exit.isSuccess(exit) ? [exit.value] : []
  })

/** Makes one call; its `done` answers whether it is durable. */
const make = Effect.fnUntraced(function*(walk: Walk, wal: WalService, client: Client, sequence: number) {
  const { id } = client
  const call = `${id}.${sequence}`
  const records = texts(id, sequence).map((text) => ({ payload: encode(text) }))
  const appended = yield* Effect.result(wal.appendNow(records, { producer: { id, sequence } }))
  if (appended._tag === "Failure") {
    const { _tag, message } = appended.failure
    if (_tag === "ProducerConflict" || _tag === "ProducerSequenceTooOld") walk.violations.push(`${call}: ${message}`)
    return { done: Effect.succeed(false) }
  }
  const { durable, first, isRepeat } = appended.success
  if (isRepeat === true) walk.repeats++
  const done = durable.pipe(
    Effect.timeout("4 seconds"),
    Effect.andThen(Effect.sync(() => {
      const before = walk.answered.get(call)
      if (before !== undefined && before !== first) walk.violations.push(`${call} is at ${before} and at ${first}`)
      walk.answered.set(call, first)
      client.next = Math.max(client.next, sequence + 1)
      return true
    })),
    Effect.catchCause(() => Effect.succeed(false))
  )
  return { done }
})

/** Makes the next calls of a client, some at a time, and one that was answered before. */
const drivenBy = Effect.fnUntraced(function*(walk: Walk, wal: WalService, client: Client, count: number) {
  client.busy = true
  if (client.next > 0 && walk.random() < 0.3) yield* (yield* make(walk, wal, client, client.next - 1)).done
  const waits: Array<Effect.Effect<boolean>> = []
  const from = client.next
  for (let nth = 0; nth < count; nth++) waits.push((yield* make(walk, wal, client, from + nth)).done)
  for (const wait of waits) if (!(yield* wait)) break
  client.busy = false
})

const clientStep = Effect.fnUntraced(function*(walk: Walk, wal: WalService) {
  const client = walk.clients[Math.floor(walk.random() * walk.clients.length)]
  if (client === undefined || client.busy) return
  const count = 1 + Math.floor(walk.random() * 3)
  yield* Effect.forkChild(drivenBy(walk, wal, client, count), { startImmediately: true })
})

const commitStep = Effect.fnUntraced(function*(walk: Walk, wal: WalService) {
  const { durable, state } = yield* wal.status
  if (state !== "open" || durable === 0) return
  const seq = Math.floor(walk.random() * (durable + 1))
  yield* Effect.exit(wal.commit(seq))
  yield* Effect.forkChild(Effect.exit(wal.trim(seq)), { startImmediately: true })
})

const step = Effect.fnUntraced(function*(walk: Walk) {
  const dice = walk.random()
  const open = logs(walk)
  const wal = open[Math.floor(walk.random() * open.length)]
  if (dice < 0.07 || walk.actors.length === 0) yield* startProcess(walk)
  else if (dice < 0.12) {
    const actor = walk.actors[Math.floor(walk.random() * walk.actors.length)]
    if (actor !== undefined) {
      actor.process.crash()
      actor.dead = true
    }
  } else if (dice < 0.3) {
    const held = walk.gates.splice(Math.floor(walk.random() * walk.gates.length), 1)[0]
    if (held !== undefined) yield* Deferred.succeed(held, undefined)
  } else if (dice < 0.36 && wal !== undefined) yield* commitStep(walk, wal)
  else if (dice < 0.8 && wal !== undefined) yield* clientStep(walk, wal)
  yield* TestClock.adjust(Math.floor(walk.random() * 400))
})

/** The world heals: what was held is let go, and the newest process answers everybody. */
const heal = Effect.fnUntraced(function*(walk: Walk) {
  walk.healed = true
  for (const held of walk.gates.splice(0)) yield* Deferred.succeed(held, undefined)
  yield* TestClock.adjust("10 seconds")
  const wal = yield* drive(walk.world.process("last").open())
  for (const client of walk.clients) {
    for (let nth = 0; nth < 3; nth++) {
      const { done } = yield* make(walk, wal, client, client.next)
      assert.isTrue(yield* drive(done))
    }
  }
  return wal
})

const check = Effect.fnUntraced(function*(walk: Walk, wal: WalService, seed: number) {
  assert.deepStrictEqual(walk.violations, [], `seed ${seed}`)
  const { trimmedTo } = yield* wal.status
  const read = yield* drive(Stream.runCollect(wal.read()))
  const seqs = new Map<string, number>()
  for (const record of read) {
    const text = decode(record.payload)
    assert.isFalse(seqs.has(text), `seed ${seed}: ${text} is there twice`)
    seqs.set(text, record.seq)
  }
  for (const [call, first] of walk.answered) {
    const [id = "", sequence] = call.split(".")
    texts(id, Number(sequence)).forEach((text, index) => {
      if (first + index > trimmedTo) assert.strictEqual(seqs.get(text), first + index, `seed ${seed}: ${text}`)
    })
  }
})

const walkOnce = (seed: number, options: Options) =>
  Effect.gen(function*() {
    const walk: Walk = {
      world: new World(yield* MemoryObjectStore.make(), options),
      random: makeRandom(seed),
      actors: [],
      clients: ["a", "b", "c"].map((id) => ({ id, next: 0, busy: false })),
      gates: [],
      answered: new Map(),
      violations: [],
      repeats: 0,
      healed: false
    }
    for (let count = 0; count < 90; count++) yield* step(walk)
    yield* check(walk, yield* heal(walk), seed)
    return [walk.answered.size, walk.repeats] as const
  }).pipe(Effect.scoped, Random.withSeed(seed))

/** More walks than CI takes: `EFFECT_WAL_WALKS=2000`. */
const extra = Number(process.env["EFFECT_WAL_WALKS"] ?? "0")

const walks = (from: number, options: Options) =>
  Effect.gen(function*() {
    const count = 25 + extra
    let answered = 0
    let repeats = 0
    for (let seed = from; seed < from + count; seed++) {
      const [calls, repeated] = yield* walkOnce(seed, options)
      answered += calls
      repeats += repeated
    }
    assert.isAbove(answered, count * 9, "the walks must answer something")
    assert.isAbove(repeats, count, "the walks must repeat something")
  })

describe("random walks of producers", () => {
  it.effect("one worker, the manifest far behind", () => walks(1, { producers: { ttl: "30d" } }))
  it.effect("four workers, depth two, deleting, the manifest close behind", () =>
    walks(10_001, {
      producers: { ttl: "30d" },
      parallelPut: { workers: 4, pipelineDepth: 2 },
      retention: { policy: "committed" },
      manifest: { maxSegments: 2, maxDelay: "1s" },
      segment: { maxEntries: 4, linger: "0ms" }
    }))
})
