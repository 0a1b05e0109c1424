/**
 * The world of a walk: virtual time, the store, the machines and the processes on them, one step at a time.
 *
 * **Owns** whose turn it is, and who lives. **Does not own** what callers do (`Workload.ts`), nor what must hold
 * (`BucketOracle.ts`, `RecordOracle.ts`).
 */
import type { DigestService } from "@effect-wal/core/codec/Digest"
import { resolveOptions } from "@effect-wal/core/config/ResolveOptions"
import { defaultCursor } from "@effect-wal/core/format/CursorSet"
import type { ObjectStore } from "@effect-wal/core/store/ObjectStore"
import type { WalOptions } from "@effect-wal/core/WalOptions"
import { Context, Effect, type Exit } from "effect"
import { type AnswerCounts, countingStore } from "./AnswerCount.ts"
import { Bucket } from "./Bucket.ts"
import { BucketOracle } from "./BucketOracle.ts"
import type { Follower } from "./Follower.ts"
import { Historian } from "./Historian.ts"
import { Network } from "./Network.ts"
import { RecordOracle } from "./RecordOracle.ts"
import type { SeededRandom } from "./SeededRandom.ts"
import { SimHost } from "./SimHost.ts"
import { simPrefix } from "./SimLog.ts"
import { type Interruption, SimProcess } from "./SimProcess.ts"
import type { SimStoreParts } from "./SimStore.ts"
import { SimWriter } from "./SimWriter.ts"
import { Timeline } from "./Timeline.ts"
import { Trace } from "./Trace.ts"
import { Violations } from "./Violations.ts"
import { largestCall, maxQueued, type WalkSettings } from "./WalkSettings.ts"

/** When a walk starts: any time will do. */
const epochMillis = 1_767_225_600_000

/** As many ways as a loss of power can leave a disk in. */
const manySurvivals = 1_000_000

/** Longer than any pause, deadline and time-out of a healthy log. */
export const patienceMillis = 3_600_000

/** In a healed world a request is not on its way for so long. */
const arrivalMillis = 1_000

/** A thousand times what a walk takes. */
const mostSteps = 2_000_000

export interface WorldParts {
  readonly random: SeededRandom
  readonly digest: DigestService
  readonly keepTrace: boolean
  readonly makeStore: (parts: SimStoreParts) => ObjectStore["Service"]
  /** Where answers are counted. */
  readonly answers: AnswerCounts | undefined
}

export interface WorldCounts {
  steps: number
  crashes: number
  stops: number
}

export class World {
  readonly timeline = new Timeline()
  readonly trace: Trace
  readonly violations: Violations
  readonly bucket: Bucket
  readonly network: Network
  readonly stored: BucketOracle
  readonly records: RecordOracle
  readonly historian: Historian
  readonly hosts: ReadonlyArray<SimHost>
  readonly writers: Array<SimWriter> = []
  readonly followers: Array<Follower> = []
  readonly counts: WorldCounts = { steps: 0, crashes: 0, stops: 0 }
  /** Nothing goes wrong any more. */
  isHealed = false
  readonly settings: WalkSettings
  readonly options: WalOptions
  /** Nothing that is stored is damaged, and nothing else answers in the store's place. */
  private isWhole: boolean
  private readonly parts: WorldParts
  private readonly random: SeededRandom
  private readonly digest: DigestService
  private readonly ready: Array<SimProcess> = []

  constructor(settings: WalkSettings, parts: WorldParts) {
    const { digest, keepTrace, random } = parts
    this.settings = settings
    this.options = Effect.runSyncWith(Context.empty())(resolveOptions(settings.options))
    this.parts = parts
    this.random = random
    this.digest = digest
    this.trace = new Trace(this.timeline, keepTrace)
    this.violations = new Violations(this.trace)
    this.bucket = new Bucket(this.timeline, epochMillis)
    this.network = new Network(this.timeline, random, settings.faults, this.trace)
    const { options: { retention }, violations } = this
    const deletesByAge = retention.policy === "age"
    this.isWhole = settings.faults.rates.foreign === 0
    this.stored = new BucketOracle({
      bucket: this.bucket,
      prefix: simPrefix,
      digest,
      violations,
      givenUpTo: () => this.records.givenUpTo,
      deletesByAge,
      maxEntries: Math.max(this.options.segment.maxEntries, largestCall)
    })
    this.historian = new Historian(settings, this.stored)
    this.records = new RecordOracle({
      violations,
      bucket: this.stored,
      deletesByAge,
      isWhole: () => this.isWhole,
      maxQueued: maxQueued(settings)
    })
    this.hosts = Array.from({ length: settings.hosts }, (_, at) => new SimHost(`host-${at}`, settings.spoolBytes))
  }

  /** Starts a process on a machine and opens the log in it. */
  start(host: SimHost): SimWriter {
    const writer = this.idle(host)
    writer.open(() => {
      const status = writer.status()
      if (status === undefined) return
      this.trace.add(`${writer.name} is open: epoch ${status.epoch}, durable ${status.durable}`)
      writer.lastStatus = status
      writer.trimmedBefore = status.trimmedTo
      this.records.opened(status)
      this.historian.opened(writer, status)
    })
    return writer
  }

  /** Starts a process that opens nothing by itself. */
  idle(host: SimHost): SimWriter {
    const process = new SimProcess({
      id: this.writers.length,
      timeline: this.timeline,
      maxOperations: this.settings.maxOperations,
      epochMillis,
      hooks: {
        onReady: (one) => this.ready.push(one),
        onInterruption: (one, what) => this.interrupt(one, what)
      }
    })
    const { bucket, digest, network, random, settings, trace, violations } = this
    const { answers, makeStore } = this.parts
    const plain = makeStore({ process, bucket, network, random, deadlineMillis: settings.deadlineMillis })
    const store = answers === undefined ? plain : countingStore(plain, answers)
    const probes = settings.probes || settings.conditions !== "kept"
    const { isWhole, options } = this
    const writer = new SimWriter({ process, host, store, digest, random, violations, trace, options, probes, isWhole })
    this.writers.push(writer)
    this.trace.add(`${writer.name} starts on ${host.name}`)
    return writer
  }

  private interrupt(process: SimProcess, what: Interruption): void {
    const writer = this.writers.find((one) => one.process === process)
    if (writer === undefined) return
    if (what === "kill") this.kill(writer)
    else this.stop(writer)
  }

  /** `kill -9`. */
  kill(writer: SimWriter): void {
    if (writer.process.state === "dead") return
    this.trace.add(`p${writer.process.id} is killed`)
    this.counts.crashes++
    this.look(writer)
    const { lastStatus } = writer
    if (lastStatus !== undefined && lastStatus.state === "open") {
      const { atRisk, epoch, lastAccepted, spooled } = lastStatus
      this.records.killed({ epoch, lastAccepted, spooled, atRisk: atRisk.records })
    }
    writer.process.kill()
    writer.waiting.clear()
    if (writer.host.spool === undefined) return
    if (this.random.chance(this.settings.powerLoss)) {
      this.trace.add(`${writer.host.name} loses its power`)
      writer.host.powerLost(this.random.below(manySurvivals))
    } else writer.host.processKilled()
  }

  /** As `kill`, in a healed world, and nothing that it has sent is on its way any more. */
  killForGood(writer: SimWriter): void {
    this.kill(writer)
    this.run(arrivalMillis)
  }

  /** From here on an object is damaged: openings and reads may refuse the log. */
  damaged(): void {
    this.isWhole = false
  }

  /** SIGSTOP, and SIGCONT some time later. */
  stop(writer: SimWriter): void {
    if (writer.process.state !== "running") return
    this.trace.add(`p${writer.process.id} is stopped`)
    this.counts.stops++
    writer.process.stop()
    this.timeline.after(this.random.logarithmic(1, this.settings.stopMillis), () => this.resume(writer))
  }

  resume(writer: SimWriter): void {
    if (writer.process.state !== "stopped") return
    this.trace.add(`p${writer.process.id} goes on`)
    writer.process.resume()
  }

  /** Looks at a writer from outside, and checks what it says. */
  look(writer: SimWriter): void {
    if (!writer.isAlive) return
    const status = writer.status()
    if (status === undefined) return
    this.records.status(status, writer.lastStatus)
    this.historian.looked(writer, status)
    writer.lastStatus = status
  }

  /** Starts a process on a machine, and waits until it has the log open or has failed. */
  open(host: SimHost): SimWriter {
    const writer = this.start(host)
    this.untilOpened([writer])
    return writer
  }

  /** Waits until each of them has the log open or has failed; more may be added meanwhile. */
  untilOpened(writers: ReadonlyArray<SimWriter>): void {
    this.runUntil(() => writers.every(({ isOver, wal }) => wal !== undefined || isOver), patienceMillis)
  }

  /** As `open`, in a world where nothing keeps it from that. */
  mustOpen(host: SimHost): SimWriter {
    const writer = this.open(host)
    if (writer.wal === undefined && !this.isBroken) {
      this.violations.add(`liveness: the log cannot be opened: ${writer.problem}`)
    }
    return writer
  }

  /** What comes of something that a process is asked; `undefined` where no answer comes, or something breaks meanwhile. */
  ask<A, E>(writer: SimWriter, what: string, effect: Effect.Effect<A, E, ObjectStore>): Exit.Exit<A, E> | undefined {
    let answer: Exit.Exit<A, E> | undefined
    writer.run(what, effect, (exit) => {
      answer = exit
    })
    this.runUntil(() => !writer.waiting.has(what), patienceMillis)
    return answer
  }

  /** Commits everything up to a number, and waits for the answer. */
  commit(writer: SimWriter, seq: number, cursor = defaultCursor): Exit.Exit<void, unknown> | undefined {
    const { wal } = writer
    if (wal === undefined) return undefined
    this.records.commits(cursor, seq)
    const told = this.historian.ack(writer, cursor, 1, seq)
    return this.ask(writer, `commit ${cursor} ${seq}`, Effect.map(wal.commit(seq, { cursor }), told))
  }

  /** Something is found: what comes after it may only follow from it. */
  get isBroken(): boolean {
    return this.violations.found.length > 0
  }

  /** Lets things happen for so long, or until something is broken. */
  run(millis: number): void {
    const untilMillis = this.timeline.nowMillis + millis
    while (!this.isBroken) {
      if (!this.runReady() && !this.timeline.advance(untilMillis)) return
      this.countStep()
    }
  }

  /** As `run`, and ends early once that is so. */
  runUntil(isDone: () => boolean, millis: number): boolean {
    const untilMillis = this.timeline.nowMillis + millis
    while (!this.isBroken && !isDone()) {
      if (!this.runReady() && !this.timeline.advance(untilMillis)) break
      this.countStep()
    }
    return isDone()
  }

  private countStep(): void {
    if (++this.counts.steps === mostSteps) this.violations.add(`liveness: ${mostSteps} steps, and no end`)
  }

  /** One step of one of the processes that have one. */
  private runReady(): boolean {
    const { ready } = this
    while (ready.length > 0) {
      const at = this.random.below(ready.length)
      const process = ready[at]
      const last = ready.pop()
      if (last !== undefined && at < ready.length) ready[at] = last
      if (process?.isReady !== true) continue
      process.runStep()
      return true
    }
    return false
  }
}
