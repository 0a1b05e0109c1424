/**
 * What callers and operators do in a walk, one thing after the other, drawn by the habits of the walk.
 */
import { defaultCursor } from "@effect-wal/core/format/CursorSet"
import type { Appended, Producer } from "@effect-wal/core/WalService"
import { Duration, Effect, Exit } from "effect"
import { CursorCalls } from "./CursorCalls.ts"
import type { ToldAppend } from "./Historian.ts"
import { recordOf } from "./Payload.ts"
import { ReadCalls } from "./ReadCalls.ts"
import type { SeededRandom } from "./SeededRandom.ts"
import type { SimHost } from "./SimHost.ts"
import type { SimWriter } from "./SimWriter.ts"
import { type Habits, largestCall } from "./WalkSettings.ts"
import type { World } from "./World.ts"

/** A caller that repeats each call until it has an answer, at whichever writer. */
interface Caller {
  readonly id: string
  sequence: number
  ids: ReadonlyArray<number>
  /** What is told of the call. */
  told: ToldAppend | undefined
  /** The call was answered once; its repeats may be answered later. */
  isAnswered: boolean
  /** Who has the call now. */
  at: SimWriter | undefined
}

type Wait = "durable" | "spooled" | "nothing"

/** An append whose caller waits. */
interface Awaited {
  readonly ids: ReadonlyArray<number>
  readonly appended: Appended
  readonly wait: Wait
  readonly told: ToldAppend
}

/** How often a process is killed right after it has said that something is in its spool. */
const killedWhenTold = 0.03

const callerCount = 2
/** Years that a wall clock can be wrong by, in milliseconds. */
const longestJump = 5 * 365 * 86_400_000
/** What a buffer holds once it is used for something else. */
const reused = 0xee
/** Timers are whole milliseconds. */
const roundingMillis = 2

export class Workload {
  private readonly world: World
  private readonly random: SeededRandom
  private readonly table: ReadonlyArray<readonly [weight: number, action: () => void]>
  private readonly callers: ReadonlyArray<Caller>
  private readonly cursors: CursorCalls
  private readonly reads: ReadCalls
  private lastId = 0
  private asked = 0

  constructor(world: World, random: SeededRandom) {
    this.world = world
    this.random = random
    this.cursors = new CursorCalls(world, random, (what) => this.name(what))
    this.reads = new ReadCalls(world, random, { name: (what) => this.name(what), cursors: this.cursors })
    this.callers = Array.from({ length: callerCount }, (_, at) => ({
      id: `caller-${at}`,
      sequence: 0,
      ids: [],
      told: undefined,
      isAnswered: false,
      at: undefined
    }))
    this.table = this.weighted(world.settings.habits)
  }

  private weighted(habits: Habits): ReadonlyArray<readonly [weight: number, action: () => void]> {
    const { world } = this
    return [
      [habits.start, () => this.start()],
      [habits.kill, () => this.interrupt("kill")],
      [habits.stop, () => this.interrupt("stop")],
      [habits.resume, () => this.resume()],
      [habits.cutOff, () => this.cutOff()],
      [habits.outage, () => this.outage()],
      [habits.harmDisk, () => this.harmDisk()],
      [habits.clockJump, () => this.clockJump()],
      [habits.append, () => this.withOpen((writer) => this.append(writer))],
      [habits.burst, () => this.withOpen((writer) => this.burst(writer))],
      [habits.call, () => this.withOpen((writer) => this.call(writer))],
      [habits.commit, () => this.withOpen((writer) => this.cursors.commit(writer))],
      [habits.ack, () => this.withOpen((writer) => this.cursors.ack(writer))],
      [habits.trim, () => this.withOpen((writer) => this.trim(writer))],
      [habits.removeCursor, () => this.withOpen((writer) => this.cursors.remove(writer))],
      [habits.flush, () => this.withOpen((writer) => this.flush(writer))],
      [habits.read, () => this.withOpen((writer) => this.reads.read(writer))],
      [habits.readElsewhere, () => this.withOpen((writer) => this.reads.readElsewhere(writer))],
      [habits.follow, () => this.withOpen((writer) => this.reads.follow(writer))],
      [habits.close, () => this.withOpen((writer) => this.close(writer))],
      [habits.look, () => this.withOpen((writer) => world.look(writer))]
    ]
  }

  /** Does one thing. */
  act(): void {
    const alive = this.world.writers.filter((writer) => writer.isAlive)
    // Without a process nothing but a start means anything.
    if (alive.length === 0) return this.start()
    let left = this.random.next() * this.table.reduce((sum, [weight]) => sum + weight, 0)
    for (const [weight, action] of this.table) {
      left -= weight
      if (left < 0) return action()
    }
  }

  private name(what: string): string {
    return `${what} ${++this.asked}`
  }

  private withOpen(action: (writer: SimWriter) => void): void {
    const writer = this.random.pickAny(this.world.writers.filter((one) => one.isOpen))
    if (writer !== undefined) action(writer)
  }

  private start(): void {
    const host = this.random.pickAny(this.world.hosts)
    if (host === undefined) return
    // Several openers at once race for the log.
    if (this.random.chance(0.15)) { for (const other of this.world.hosts) if (other !== host) this.startOn(other) }
    this.startOn(host)
  }

  private startOn(host: SimHost): void {
    const there = this.world.writers.filter((writer) => writer.host === host && writer.process.state !== "dead")
    // A second process on a machine is started too, now and then; with a spool it would only be refused.
    if (this.world.settings.spoolBytes !== undefined || !this.random.chance(0.1)) {
      for (const writer of there) this.world.kill(writer)
    }
    const writer = this.world.start(host)
    if (this.random.chance(0.15)) writer.process.distance = this.random.logarithmic(0.05, 40)
    if (this.random.chance(0.2)) {
      writer.process.interruptAfter(this.random.below(400), this.random.chance(0.6) ? "kill" : "stop")
    }
  }

  private interrupt(what: "kill" | "stop"): void {
    const writer = this.random.pickAny(this.world.writers.filter((one) => one.process.state === "running"))
    if (writer === undefined) return
    if (this.random.chance(0.7)) writer.process.interruptAfter(this.random.below(150), what)
    else if (what === "kill") this.world.kill(writer)
    else this.world.stop(writer)
  }

  private resume(): void {
    const writer = this.random.pickAny(this.world.writers.filter((one) => one.process.state === "stopped"))
    if (writer !== undefined) this.world.resume(writer)
  }

  private cutOff(): void {
    const { network, writers } = this.world
    const writer = this.random.pickAny(writers.filter((one) => one.isAlive))
    if (writer === undefined) return
    network.cutOff.add(writer.process)
    this.world.timeline.after(this.random.logarithmic(100, 60_000), () => network.cutOff.delete(writer.process))
  }

  private outage(): void {
    const { network, timeline } = this.world
    network.isDown = true
    timeline.after(this.random.logarithmic(100, 60_000), () => {
      network.isDown = false
    })
  }

  private harmDisk(): void {
    const host = this.random.pickAny(this.world.hosts.filter(({ spool }) => spool !== undefined))
    host?.harm(this.random)
  }

  private clockJump(): void {
    const writer = this.random.pickAny(this.world.writers.filter((one) => one.isAlive))
    if (writer === undefined) return
    const millis = Math.floor(this.random.logarithmic(1_000, longestJump)) * (this.random.chance(0.5) ? 1 : -1)
    writer.process.wallOffsetMillis += millis
    this.world.trace.add(`p${writer.process.id} clock jumps by ${millis}`)
  }

  private freshIds(count: number): ReadonlyArray<number> {
    return Array.from({ length: count }, () => ++this.lastId)
  }

  private recordsOf(ids: ReadonlyArray<number>) {
    const { recordBytes } = this.world.settings
    return ids.map((id) => recordOf(id, this.random.below(recordBytes)))
  }

  private append(writer: SimWriter): void {
    const { wal } = writer
    if (wal === undefined) return
    const ids = this.freshIds(this.random.below(this.world.settings.batch + 1))
    const append = this.random.chance(0.5) ? wal.append : wal.appendNow
    const wait = this.random.pick<Wait>(["durable", "durable", "spooled", "nothing"])
    const made = this.recordsOf(ids)
    const told = this.world.historian.append(writer, ids)
    writer.run(
      this.name(`append ${wait}`),
      append(made).pipe(
        Effect.tapErrorTag(["BufferFull", "RecordTooLarge"], () => Effect.sync(told.refused)),
        Effect.flatMap((appended) => {
          // They are copied by now: a caller may use its buffers again.
          for (const { payload } of made) payload.fill(reused)
          told.accepted(appended.first)
          return this.await(writer, { ids, appended, wait, told })
        })
      )
    )
  }

  /** One record after the other, without a pause that anybody would notice. */
  private burst(writer: SimWriter): void {
    const { timeline } = this.world
    const appends = this.random.between(10, 60)
    const everyMillis = this.random.logarithmic(0.5, 50)
    for (let nth = 1; nth <= appends; nth++) {
      timeline.after(nth * everyMillis, () => {
        if (writer.isOpen) this.append(writer)
      })
    }
    // Who opens the log meanwhile has a hard time.
    if (!this.random.chance(0.4)) return
    timeline.after(this.random.next() * appends * everyMillis / 2, () => {
      if (!this.world.isHealed) this.start()
    })
  }

  /** Waits for what a caller wants to know, and tells the oracle. */
  private await(writer: SimWriter, { appended, ids, told, wait }: Awaited) {
    const { records, settings, violations } = this.world
    const { first, last } = appended
    violations.unless(
      last - first + 1 === ids.length,
      () => `P1: a call of ${ids.length} records was accepted as ${first} to ${last}`
    )
    if (wait === "nothing" || ids.length === 0) return Effect.void
    const call = { ids, first, epoch: appended.epoch }
    const durable = () => {
      records.durable(call)
      told.durable(call.first)
    }
    if (wait === "durable") return Effect.map(appended.durable, durable)
    return Effect.map(appended.spooled, () => {
      if (settings.spoolBytes === undefined) return durable()
      for (const id of ids) records.spooled.add(id)
      // The worst moment, if the disk has not kept it. In a world that has healed nobody is killed.
      const isKilled = this.random.chance(killedWhenTold)
      if (isKilled && !this.world.isHealed) writer.process.interruptAfter(this.random.below(3), "kill")
    })
  }

  /** A call of a producer: the same one again, as long as it has no answer; now and then without waiting for that. */
  private call(writer: SimWriter): void {
    const isImpatient = this.random.chance(0.2)
    const caller = this.random.pickAny(this.callers.filter((one) => isImpatient || one.at?.isAlive !== true))
    const { wal } = writer
    if (caller === undefined || wal === undefined) return
    if (caller.ids.length === 0) caller.ids = this.freshIds(this.random.between(1, largestCall))
    const { ids, sequence } = caller
    const told = caller.told ?? this.world.historian.call(writer, ids)
    caller.told = told
    const toldOnce: ToldAppend = {
      ...told,
      durable: (first) => {
        if (caller.sequence !== sequence || caller.isAnswered) return
        caller.isAnswered = true
        told.durable(first)
      }
    }
    const producer: Producer = { id: caller.id, sequence }
    // The same bytes each time: a repeat with others is refused.
    const made = ids.map((id) => recordOf(id, 8))
    caller.at = writer
    writer.run(
      this.name(`call ${caller.id}.${sequence}`),
      Effect.flatMap(
        wal.appendNow(made, { producer }),
        (appended) => this.await(writer, { ids, appended, wait: "durable", told: toldOnce })
      ),
      (exit) => {
        caller.at = undefined
        if (Exit.isFailure(exit) || caller.sequence !== sequence) return
        caller.sequence++
        caller.isAnswered = false
        caller.ids = []
        caller.told = undefined
      }
    )
  }

  private trim(writer: SimWriter): void {
    const durable = writer.status()?.durable ?? 0
    const { wal } = writer
    if (wal !== undefined) writer.run(this.name("trim"), wal.trim(this.random.below(durable + 1)))
  }

  private flush(writer: SimWriter): void {
    const { wal } = writer
    if (wal === undefined) return
    const flush = Effect.suspend(() => {
      const accepted = writer.status()?.lastAccepted ?? 0
      return Effect.map(wal.flush, (durable) =>
        this.world.violations.unless(
          durable >= accepted,
          () => `P1: flush answers ${durable}, accepted before was ${accepted}`
        ))
    })
    writer.run(this.name("flush"), flush)
  }

  private close(writer: SimWriter): void {
    const { wal } = writer
    if (wal === undefined) return
    const { counts, options, timeline, violations } = this.world
    const startedAt = timeline.nowMillis
    const { stops } = counts
    const limitMillis = Duration.toMillis(options.parallelPut.shutdownTimeout) + roundingMillis
    const mark = writer.status()?.cursors[defaultCursor]?.mark ?? 0
    writer.run(this.name("close"), wal.close, (exit) => {
      writer.isOver = true
      const stored = this.world.stored.manifest?.cursors.marks[defaultCursor] ?? 0
      violations.unless(
        Exit.isFailure(exit) || !exit.value.manifestWritten || stored >= mark,
        () => `P3: closing says that the manifest is written, it has ${stored}, the mark was ${mark}`
      )
      const tookMillis = timeline.nowMillis - startedAt
      // While a process is stopped its time goes on.
      violations.unless(
        counts.stops > stops || tookMillis <= limitMillis,
        () => `liveness: closing took ${tookMillis} ms, the limit is ${limitMillis}`
      )
    })
  }
}
