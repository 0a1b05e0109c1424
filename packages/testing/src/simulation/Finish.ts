/**
 * The end of a walk: the world heals, and then everything must drain, everybody must have an answer, and all that was
 * promised must be there.
 */
import { defaultCursor } from "@effect-wal/core/format/CursorSet"
import type { WalService } from "@effect-wal/core/WalService"
import { Duration, Effect, Exit, Stream } from "effect"
import { idOf, recordOf } from "./Payload.ts"
import type { SimHost } from "./SimHost.ts"
import type { SimWriter } from "./SimWriter.ts"
import { patienceMillis, type World } from "./World.ts"

/** An idle log asks nothing for so long. */
const idleMillis = 3_600_000
/** The last records of each walk; from here down. */
const lastId = 0xffff_fff0
/** A healthy store and an idle log need less for anything, beside the pauses that were configured. */
const promptMillis = 500
/** So many pages of a listing are no hindrance to anybody who opens the log. */
const fewPages = 30
/** What a segment takes at least in the window of newest segments. */
const tailOverheadBytes = 2_048

export class Finish {
  private readonly world: World
  private nextId = lastId

  constructor(world: World) {
    this.world = world
  }

  run(): void {
    const { world } = this
    if (this.world.isBroken) return
    world.trace.add("the world heals")
    world.isHealed = true
    world.network.heal()
    // A log that has become long is not listed within `open_timeout` where a page has two objects: no store is like that.
    if (world.bucket.objects.size > fewPages * world.network.listing.pageSize) world.network.listLongPages()
    for (const host of world.hosts) host.heal()
    for (const writer of world.writers) writer.process.interruptAfter(Infinity, "stop")
    for (const writer of world.writers) world.resume(writer)
    this.drain()
    if (!this.world.isBroken) this.checkFollowers()
    if (!this.world.isBroken) this.checkSettled()
    for (const host of world.hosts) if (!this.world.isBroken) this.emptySpool(host)
    if (!this.world.isBroken) this.checkAll()
  }

  private get trimmedTo(): number {
    return this.world.stored.manifest?.trim.seq ?? 0
  }

  /** Everybody who waits has an answer, and who can still write has stored all that it accepted. */
  private drain(): void {
    const { world } = this
    const alive = world.writers.filter((writer) => writer.isAlive)
    for (const writer of alive) {
      if (writer.wal !== undefined) writer.run("last flush", writer.wal.flush)
    }
    const isSettled = (writer: SimWriter) => {
      const status = writer.isAlive ? writer.status() : undefined
      return status?.state !== "open" || status.durable === status.lastAccepted
    }
    const isDone = () => alive.every((writer) => writer.waiting.size === 0 && isSettled(writer))
    if (world.runUntil(isDone, patienceMillis) || this.world.isBroken) return
    const waiting = alive.flatMap((writer) => [...writer.waiting].map((what) => `p${writer.process.id} ${what}`))
    world.violations.add(`liveness: without an answer: ${waiting.join(", ")}; or accepted and not durable`)
  }

  /** Live readers have all that is durable, or have been told that the log is over. */
  private checkFollowers(): void {
    const { followers, violations } = this.world
    const lags = () => followers.flatMap((one) => one.lag ?? [])
    if (this.world.runUntil(() => lags().length === 0, patienceMillis) || this.world.isBroken) return
    violations.add(`liveness: ${lags()[0]}`)
  }

  /** Whoever has the log has deleted what lies below its trim point, and stored its marks. */
  private checkSettled(): void {
    const { stored, violations, writers } = this.world
    const writer = writers.find((one) => one.isAlive && one.status()?.epoch === stored.manifest?.live)
    if (writer !== undefined) this.lastCommit(writer)
    this.world.run(patienceMillis)
    const status = writer?.status()
    if (this.world.isBroken || writer === undefined || status?.state !== "open") return
    for (const [name, { mark, persisted }] of Object.entries(status.cursors)) {
      violations.unless(mark === persisted, () => `P3: cursor ${name} stays at ${mark}, stored is ${persisted}`)
    }
    const left = stored.leftBelowTrim(writer.trimmedBefore)
    violations.unless(
      left.length === 0,
      () => `slot ${left[0]?.slot} of epoch ${left[0]?.epoch} is trimmed, and nobody deletes it`
    )
  }

  /** One record more is done, with no segment on its way that could carry the mark. */
  private lastCommit(writer: SimWriter): void {
    const status = writer.status()
    if (status?.state !== "open") return
    const mark = status.cursors[defaultCursor]?.mark ?? 0
    this.success("last commit", this.world.commit(writer, Math.min(status.durable, mark + 1)))
  }

  /** One more process on a machine gives what its spool holds. */
  private emptySpool(host: SimHost): void {
    const { world } = this
    for (const writer of world.writers) if (writer.host === host && writer.process.state !== "dead") world.kill(writer)
    if (world.settings.spoolBytes === undefined) return
    // A sync that was still to fail has no process left to fail for.
    host.processKilled()
    const writer = world.mustOpen(host)
    const isEmpty = () => (writer.status()?.spool?.records ?? 1) === 0
    if (!this.world.isBroken && !world.runUntil(isEmpty, patienceMillis)) {
      world.violations.add(`liveness: the spool of ${host.name} does not drain`)
    }
    this.closed(writer)
  }

  private closed(writer: SimWriter): void {
    const { wal } = writer
    if (wal === undefined || this.world.isBroken) return
    // What is on its way when it closes is stored.
    const made = [recordOf(this.nextId--, 4)]
    this.answer(writer, "an append before closing", Effect.as(wal.append(made), true))
    const report = this.answer(writer, "last close", wal.close)
    writer.isOver = true
    this.world.violations.unless(
      report?.lost === null && report.manifestWritten,
      () => `liveness: closing says ${JSON.stringify(report)}`
    )
  }

  private answer<A, E>(writer: SimWriter, what: string, effect: Effect.Effect<A, E>): A | undefined {
    return this.success(what, this.world.ask(writer, what, effect))
  }

  private success<A, E>(what: string, exit: Exit.Exit<A, E> | undefined): A | undefined {
    if (exit !== undefined && Exit.isSuccess(exit)) return exit.value
    if (!this.world.isBroken) this.world.violations.add(`liveness: ${what}: ${exit?.cause ?? "no answer"}`)
    return undefined
  }

  private checkAll(): void {
    const [host] = this.world.hosts
    if (host === undefined) return
    const writer = this.world.mustOpen(host)
    const { wal } = writer
    if (wal === undefined) return
    this.lastAppend(writer, wal)
    // What is deleted while it is read is asked for no more.
    const settled = Effect.andThen(Effect.sleep("1 minute"), wal.status)
    const trimmedTo = this.answer(writer, "last look", settled)?.trimmedTo ?? 0
    writer.meter.takeMostGets()
    const read = this.answer(writer, "last read", Stream.runCollect(wal.read()))
    if (read === undefined || this.world.isBroken) return
    this.checkMemory(writer, wal)
    this.checkRead(read.map((record) => [record.seq, idOf(record.payload)]), trimmedTo)
    if (!this.world.isBroken) this.checkOnce()
    if (!this.world.isBroken) this.checkIdle()
    this.closed(writer)
  }

  /** It is durable as soon as the settings let it be. */
  private lastAppend(writer: SimWriter, wal: WalService): void {
    const { options: { budget, segment, sync }, timeline, violations } = this.world
    const linger = sync === "group_commit" && budget === undefined ? segment.linger : segment.flushInterval
    const limitMillis = Duration.toMillis(Duration.min(linger, segment.flushInterval)) + promptMillis
    const startedAt = timeline.nowMillis
    const appended = wal.append([recordOf(this.nextId--, 4)])
    this.answer(writer, "last append", Effect.flatMap(appended, ({ durable }) => Effect.as(durable, true)))
    const tookMillis = timeline.nowMillis - startedAt
    violations.unless(
      this.world.isBroken || tookMillis <= limitMillis,
      () => `liveness: an append took ${tookMillis} ms, the limit is ${limitMillis}`
    )
  }

  /** P5: a reader fetches no more than it may, and only so many of the newest segments are in memory. */
  private checkMemory(writer: SimWriter, wal: WalService): void {
    const { options: { prefetch, tailBufferBytes }, violations } = this.world
    const most = writer.meter.takeMostGets()
    violations.unless(most <= prefetch, () => `P5: ${most} segments were fetched side by side, most are ${prefetch}`)
    if (tailBufferBytes >= tailOverheadBytes) return
    const { gets } = writer.meter
    const { durable: last = 1, trimmedTo = 0 } = writer.status() ?? {}
    // By its age all of a log can be gone.
    if (last === trimmedTo) return
    this.answer(writer, "last glance", Stream.runCollect(wal.read({ from: last })))
    violations.unless(
      writer.meter.gets > gets,
      () => `P5: a segment is in memory that may take ${tailBufferBytes} bytes`
    )
  }

  /** What is read is what the objects prove, from the trim point to the end. */
  private checkRead(read: ReadonlyArray<readonly [seq: number, id: number]>, trimmedTo: number): void {
    const { records, violations } = this.world
    // Deletion may have gone on while it was read.
    let next = Math.min(Math.max(read[0]?.[0] ?? 0, trimmedTo + 1), this.trimmedTo + 1)
    for (const [seq, id] of read) {
      violations.unless(seq === next, () => `P3: the log has ${seq} after ${next - 1}`)
      records.shown(seq, id)
      next = seq + 1
    }
    violations.unless(
      next - 1 >= records.highestDurable,
      () => `P1: the log ends at ${next - 1}, ${records.highestDurable} was durable`
    )
  }

  /** Each record is in the log once at most, and those that were promised to survive their process are there. */
  private checkOnce(): void {
    const { records, stored, violations } = this.world
    const seqById = new Map<number, number>()
    let last: number | undefined
    for (const segment of stored.inLog) {
      const isNext = last === undefined || segment.firstSeq === last + 1
      violations.unless(
        isNext || segment.firstSeq <= this.trimmedTo + 1,
        () => `P1: ${segment.firstSeq} comes after ${last}`
      )
      last = segment.lastSeq
      segment.ids.forEach((id, index) => {
        const seq = segment.firstSeq + index
        const before = seqById.get(id)
        violations.unless(before === undefined, () => `P1: record ${id} is in the log as ${before} and ${seq}`)
        seqById.set(id, seq)
        const known = records.seqOf(id)
        violations.unless(
          known === undefined || known === seq,
          () => `P1: record ${id} was durable as ${known} and is ${seq}`
        )
      })
    }
    for (const id of records.spooled) {
      violations.unless(
        seqById.has(id) || stored.trimmedUnseen.has(id),
        () => `P1: record ${id} was in a spool and is not in the log`
      )
    }
  }

  /** P6: an idle log makes no requests, once it has stored what it had to. */
  private checkIdle(): void {
    const { network, violations } = this.world
    this.world.run(patienceMillis)
    const before = network.counts.requests
    this.world.run(idleMillis)
    const asked = network.counts.requests - before
    violations.unless(asked === 0, () => `P6: an idle log made ${asked} requests in an hour`)
  }
}
