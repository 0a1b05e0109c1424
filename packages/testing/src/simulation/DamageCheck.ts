/**
 * The last part of a walk: the log is proven whole from its objects alone, then one object is damaged at rest. From there on
 * nothing may be wrong in silence: verifying finds it, an opening refuses or works, a reader that skips says what it skips,
 * and after a repair everything that was not damaged is read as it was.
 */
import { manifestKey, parseSlotKey } from "@effect-wal/core/format/ObjectKey"
import type { ObjectStore } from "@effect-wal/core/store/ObjectStore"
import { isLostRange, type LostRange, type WalRecord } from "@effect-wal/core/WalRecord"
import * as WalRepair from "@effect-wal/core/WalRepair"
import type { WalService } from "@effect-wal/core/WalService"
import * as WalVerify from "@effect-wal/core/WalVerify"
import { Effect, Exit, Option, Stream } from "effect"
import { idOf, recordOf } from "./Payload.ts"
import type { SeededRandom } from "./SeededRandom.ts"
import type { SimHost } from "./SimHost.ts"
import { simLog, simPrefix } from "./SimLog.ts"
import type { SimWriter } from "./SimWriter.ts"
import type { World } from "./World.ts"

const lastId = 0xffff_ff00
/** How often the last writer before the damage is killed, and what it has stored then. */
const killed = 0.6
const segmentsOfKilled = 8

/** What was done to an object. */
interface Harm {
  readonly key: string
  /** The numbers of its records; none where it holds no records of the log. */
  readonly seqs: ReadonlySet<number>
  /** It was no part of the log: an orphan, or trimmed. */
  readonly isGarbage: boolean
}

type Delivered = ReadonlyArray<WalRecord | LostRange>

export class DamageCheck {
  private readonly world: World
  private readonly random: SeededRandom
  /** What the log holds above its trim point, by number. */
  private readonly idBySeq = new Map<number, number>()

  constructor(world: World, random: SeededRandom) {
    this.world = world
    this.random = random
  }

  run(): void {
    const { hosts: [host], settings, violations } = this.world
    if (host === undefined || this.world.isBroken) return
    const before = this.answer(this.world.idle(host), "verify", WalVerify.report(simLog))
    if (before === undefined) return
    violations.unless(before.report.intact, () => `verify: a whole log has ${describe(before.findings)}`)
    if (!settings.damages || this.world.isBroken) return
    if (this.random.chance(killed)) this.leaveKilled(host)
    const harm = this.world.isBroken ? undefined : this.harm()
    if (harm === undefined) return
    this.checkFound(host, harm)
    if (!this.world.isBroken) this.checkOpening(host, harm)
    if (!this.world.isBroken) this.checkRepair(host, harm)
  }

  /** The answer of something that a process is asked; a violation where none comes, `undefined` for a typed error. */
  private answer<A, E>(writer: SimWriter, what: string, effect: Effect.Effect<A, E, ObjectStore>): A | undefined {
    const exit = this.world.ask(writer, what, effect)
    if (exit === undefined && !this.world.isBroken) this.world.violations.add(`liveness: ${what} has no answer`)
    return exit === undefined ? undefined : Option.getOrUndefined(Exit.getSuccess(exit))
  }

  /** A writer is killed whose newest segments no manifest knows: each but the last is known by the header of the next. */
  private leaveKilled(host: SimHost): void {
    const writer = this.world.open(host)
    const { wal } = writer
    for (let segment = 0; segment < segmentsOfKilled && wal !== undefined; segment++) {
      this.answer(writer, "append", this.appendOne(wal, lastId + 1 + segment))
    }
    this.world.killForGood(writer)
  }

  /** The last segment of an epoch without a recorded end: that it was there, nothing else may know. */
  private isLast(key: string): boolean {
    const { stored } = this.world
    const last = stored.inLog.at(-1)
    const place = parseSlotKey(simPrefix, key)
    return last !== undefined && place?.epoch === last.epoch && place.slot === last.slot &&
      stored.endOf(last.epoch) === undefined
  }

  /** Damages one object, and remembers what the log was. */
  private harm(): Harm | undefined {
    const { bucket, stored, trace } = this.world
    for (const segment of stored.inLog) {
      segment.ids.forEach((id, index) => this.idBySeq.set(segment.firstSeq + index, id))
    }
    const keys = [...bucket.objects.keys()].filter((key) =>
      key === manifestKey(simPrefix) || parseSlotKey(simPrefix, key) !== undefined
    )
    const key = this.random.pickAny(keys)
    const body = key === undefined ? undefined : bucket.objects.get(key)?.body
    if (key === undefined || body === undefined) return undefined
    const isManifest = parseSlotKey(simPrefix, key) === undefined
    const [how, damaged] = this.damaged(body, { isManifest, mayGo: !this.isLast(key) })
    trace.add(`${key} is damaged: ${how}`)
    // From here on the manifest may be made anew: what was true of it before does not bind it.
    bucket.observe({ onWritten: () => undefined, onRemoved: () => undefined, onChanged: () => undefined })
    bucket.damage(key, damaged)
    this.world.damaged()
    const place = parseSlotKey(simPrefix, key)
    const segment = place === undefined ?
      undefined :
      stored.inLog.find((one) =>
        one.epoch === place.epoch && one.slot === place.slot && one.lastSeq > (stored.manifest?.trim.seq ?? 0)
      )
    const seqs = new Set(segment?.ids.map((_, index) => segment.firstSeq + index))
    // The marker of an end that is trimmed says nothing any more.
    const isMarker = stored.manifest?.ends.some(({ epoch, slot }) => place?.epoch === epoch && place.slot === slot)
    return { key, seqs, isGarbage: !isManifest && segment === undefined && isMarker !== true }
  }

  /** A manifest has no checksum, as the store has one: bits that flip in it are not among what is tried. */
  private damaged(
    body: Uint8Array,
    { isManifest, mayGo }: { readonly isManifest: boolean; readonly mayGo: boolean }
  ): readonly [how: string, damaged: Uint8Array | undefined] {
    const dice = this.random.next()
    if (dice < 0.3 && mayGo) return ["removed", undefined]
    if (dice < 0.5) return ["cut", body.slice(0, this.random.below(body.length))]
    if (dice < 0.6 || isManifest) return ["zeroed", new Uint8Array(body.length)]
    const bit = this.random.below(8 * body.length)
    const flipped = body.slice()
    flipped[bit >> 3] = (flipped[bit >> 3] ?? 0) ^ (1 << (bit & 7))
    return [`bit ${bit}`, flipped]
  }

  private checkFound(host: SimHost, harm: Harm): void {
    const after = this.answer(this.world.idle(host), "verify damage", WalVerify.report(simLog))
    if (after === undefined) return
    this.world.violations.unless(
      !after.report.intact || harm.isGarbage,
      () => `verify: damage to ${harm.key} is not found`
    )
  }

  /** Opened or refused, nothing that is read may be wrong. */
  private checkOpening(host: SimHost, harm: Harm): void {
    const writer = this.world.open(host)
    if (writer.wal !== undefined) this.checkReading(writer, writer.wal, harm)
    this.world.killForGood(writer)
  }

  private checkReading(writer: SimWriter, wal: WalService, harm: Harm): void {
    const read = this.answer(writer, "read past damage", Stream.runCollect(wal.read({ onDamage: "skip" })))
    if (read === undefined) return
    const { violations } = this.world
    let next: number | undefined
    for (const element of read) {
      const [from, to] = isLostRange(element) ? [element.from, element.to] : [element.seq, element.seq]
      violations.unless(
        next === undefined || from === next,
        () => `P3: reading past damage goes from ${next} to ${from}`
      )
      next = to + 1
      if (isLostRange(element)) this.checkLost(element, harm)
      else this.checkRecord(element)
    }
    this.checkWhole(read, harm, writer.status()?.trimmedTo ?? 0)
  }

  private checkRecord({ payload, seq }: WalRecord): void {
    const id = this.idBySeq.get(seq)
    const found = idOf(payload)
    this.world.violations.unless(id === undefined || id === found, () => `P1: record ${seq} was ${id} and is ${found}`)
  }

  /** Nothing but what was damaged is lost. */
  private checkLost({ from, to }: LostRange, { seqs }: Harm): void {
    for (const seq of this.idBySeq.keys()) {
      if (seq < from || seq > to || seqs.has(seq)) continue
      this.world.violations.add(`P1: record ${seq} is called lost and was not damaged`)
      return
    }
  }

  /** What was not damaged is all there, above the trim point. */
  private checkWhole(read: Delivered, { seqs }: Harm, trimmedTo: number): void {
    const seen = new Set(read.flatMap((element) => isLostRange(element) ? [] : [element.seq]))
    for (const seq of this.idBySeq.keys()) {
      if (seq <= trimmedTo || seen.has(seq) || seqs.has(seq)) continue
      this.world.violations.add(`P1: record ${seq} was not damaged and is not read`)
      return
    }
  }

  /** After a repair the log opens, and takes records under numbers that nobody has had. */
  private checkRepair(host: SimHost, harm: Harm): void {
    const { violations } = this.world
    const planned = this.answer(this.world.idle(host), "plan a repair", WalRepair.plan(simLog))
    // Where objects cannot say what the log was, somebody has to decide.
    if (planned === undefined) return
    const applied = this.answer(
      this.world.idle(host),
      "repair",
      WalRepair.apply(planned, { ...simLog, noWriterRuns: true })
    )
    violations.unless(applied !== undefined, () => `repair: the plan for ${harm.key} could not be applied`)
    if (this.world.isBroken) return
    const writer = this.world.open(host)
    const { wal } = writer
    if (wal === undefined) {
      // How an epoch of a spool ended, no repair of the log can say where its marker is damaged.
      const isSpool = writer.problem.startsWith("SpoolUndecided")
      return violations.unless(isSpool, () => `repair: the log does not open after it: ${writer.problem}`)
    }
    this.checkReading(writer, wal, harm)
    const appended = this.answer(writer, "append after a repair", this.appendOne(wal, lastId))
    const highest = this.world.records.highestDurable
    violations.unless(
      appended !== undefined && appended > highest,
      () => `repair: the next number is ${appended}, ${highest} was durable`
    )
    const last = this.answer(this.world.idle(host), "verify a repair", WalVerify.report(simLog))
    violations.unless(
      last === undefined || last.report.intact,
      () => `repair: leaves ${describe(last?.findings ?? [])}`
    )
  }

  private appendOne(wal: WalService, id: number) {
    return Effect.flatMap(wal.append([recordOf(id, 4)]), ({ durable, first }) => Effect.as(durable, first))
  }
}

const describe = (findings: ReadonlyArray<WalVerify.Finding>): string =>
  findings.slice(0, 3).map((finding) => WalVerify.describeFinding(finding)).join("; ")
