/**
 * What damage can do to a log that is in use: an object is gone, or another one is in its place, between two requests of a
 * process. Each time the process must notice, and change nothing that matters: with the object put back the log is whole.
 *
 * Damage at rest, which stays, is `DamageCheck.ts`.
 */
import { lowestMark } from "@effect-wal/core/format/CursorSet"
import { encodeManifest } from "@effect-wal/core/format/ManifestCodec"
import { manifestKey, slotKey } from "@effect-wal/core/format/ObjectKey"
import * as WalVerify from "@effect-wal/core/WalVerify"
import { Exit, Option } from "effect"
import { SabotageTools } from "./SabotageTools.ts"
import type { SeededRandom } from "./SeededRandom.ts"
import type { SimHost } from "./SimHost.ts"
import { simLog, simPrefix } from "./SimLog.ts"
import type { SimWriter } from "./SimWriter.ts"
import type { World } from "./World.ts"

const page = new TextEncoder().encode("<html><body>404 not found</body></html>")
/** The manifest is written by then, whatever the settings. */
const manifestMillis = 120_000
/** How much longer the way of the opener is that a busy writer outruns, and how many slots that takes at most. */
const nearest = 2
const farthest = 6
const busySlots = 150
/** What an opener says that misses the manifest: one with a spool cannot say whether all of that is stored. */
const misses = ["ManifestMissing", "SpoolUndecided"]

type Scenario = readonly [name: string, act: () => void]
type Scenarios = readonly [Scenario, ...ReadonlyArray<Scenario>]

export class Sabotage {
  private readonly world: World
  private readonly random: SeededRandom
  private readonly tools: SabotageTools

  constructor(world: World, random: SeededRandom) {
    this.world = world
    this.random = random
    this.tools = new SabotageTools(world)
  }

  run(): void {
    const { hosts: [host], stored, trace } = this.world
    if (host === undefined || this.world.isBroken) return
    const scenarios: Scenarios = [
      ["another segment in a slot", () => this.takenSlot(host, true)],
      ["a page in a slot", () => this.takenSlot(host, false)],
      ["the manifest vanishes", () => this.lostManifest(host)],
      ["something in the place of the end marker", () => this.takenEnd(host)],
      ["the last segment vanishes in an opening", () => this.lostAfterListing(host)],
      ["a segment below others is gone", () => this.lostBelowOthers(host)],
      // Most of these logs are trimmed too far for it.
      ["the last segment is gone, the checkpoint knows it", () => this.lostBelowCheckpoint(host)],
      ["the last segment is gone, the checkpoint knows it", () => this.lostBelowCheckpoint(host)],
      ["what a cursor knows is gone", () => this.lostBelowCursor(host)],
      ["a marker is gone", () => this.lostMarker(host)],
      ["a segment in the place of a marker", () => this.takenMarker(host)],
      ["a busy writer", () => this.busyWriter(host)],
      ["a writer that is told twice", () => this.toldTwice(host)],
      ["a writer that is told twice", () => this.toldTwice(host)]
    ]
    const archive = stored.manifest?.ends_archive ?? undefined
    // Few logs have an archive.
    const [name, act] = archive === undefined
      ? this.random.pick(scenarios)
      : ["an archive is gone", () => this.lostArchive(host, archive.key)] as const
    trace.add(`sabotage: ${name}`)
    this.world.damaged()
    act()
    for (const writer of this.world.writers) this.world.kill(writer)
    if (!this.world.isBroken) this.checkWhole(host, name)
  }

  /** A segment's key is taken by something that no writer of the log has put there. */
  private takenSlot(host: SimHost, isReadable: boolean): void {
    const writer = this.world.mustOpen(host)
    const last = this.tools.append(writer)
    if (last === undefined) return
    const other = isReadable ? this.tools.bodyOf(last) : page
    if (other === undefined) return
    const back = this.tools.exchange(slotKey(simPrefix, last.epoch, last.slot + 1), other)
    this.tools.expect("SegmentConflict", this.tools.tryAppend(writer))
    this.world.kill(writer)
    back()
  }

  private lostManifest(host: SimHost): void {
    const writer = this.world.mustOpen(host)
    if (this.tools.append(writer) === undefined) return
    const back = this.tools.exchange(manifestKey(simPrefix), undefined)
    this.world.run(manifestMillis)
    this.tools.expect("ManifestVanished", this.tools.tryAppend(writer))
    this.world.kill(writer)
    this.tools.expectRefused(host, this.world.settings.spoolBytes === undefined ? ["ManifestMissing"] : misses)
    back()
  }

  /** Stored between the listing and the marker. One of two openers may be fenced by the other before it says what it saw. */
  private takenEnd(host: SimHost): void {
    const last = this.tools.killedAfterAppend(host)
    if (last === undefined) return
    const key = slotKey(simPrefix, last.epoch, last.slot + 1)
    const other = this.random.chance(0.5) ? page : this.tools.bodyOf(last) ?? page
    let back = () => {}
    this.tools.onArrival("create", key, () => {
      back = this.tools.exchange(key, other)
    })
    for (const { problem, wal } of this.tools.openTwo(host)) {
      const isRefused = problem.startsWith("SegmentCorrupt") || problem.startsWith("WriterFenced")
      this.tools.unless(wal === undefined && isRefused, () => `opens where its end is taken: ${problem}`)
    }
    back()
  }

  private lostAfterListing(host: SimHost): void {
    const last = this.tools.killedAfterAppend(host)
    if (last === undefined || (this.world.stored.manifest?.trim.seq ?? 0) >= last.lastSeq) return
    const key = slotKey(simPrefix, last.epoch, last.slot)
    let back = () => {}
    this.tools.onArrival("get", key, () => {
      back = this.tools.exchange(key, undefined)
    })
    this.tools.expectRefused(host, ["SegmentMissing"])
    back()
  }

  /** What follows it knows that it was durable. */
  private lostBelowOthers(host: SimHost): void {
    const writer = this.world.mustOpen(host)
    const [lost] = [this.tools.append(writer), this.tools.append(writer), this.tools.append(writer)]
    this.world.killForGood(writer)
    const { manifest } = this.world.stored
    if (lost === undefined || manifest === undefined) return
    if (Math.max(manifest.checkpoint.seq, manifest.trim.seq) >= lost.lastSeq) return
    const back = this.tools.exchange(slotKey(simPrefix, lost.epoch, lost.slot), undefined)
    this.tools.expectRefused(host, ["SegmentMissing"])
    back()
  }

  private lostBelowCheckpoint(host: SimHost): void {
    const writer = this.world.mustOpen(host)
    const last = this.tools.append(writer)
    if (last === undefined) return
    const cursors = this.random.chance(0.7) ? Object.keys(writer.status()?.cursors ?? {}) : []
    for (const cursor of cursors) this.world.commit(writer, last.lastSeq, cursor)
    this.world.run(manifestMillis)
    this.world.kill(writer)
    const { manifest } = this.world.stored
    if (manifest === undefined) return
    const back = this.tools.exchange(slotKey(simPrefix, last.epoch, last.slot), undefined)
    const isKnown = manifest.trim.seq >= last.lastSeq ||
      manifest.checkpoint.seq >= last.lastSeq && lowestMark(manifest.cursors) >= last.lastSeq
    if (isKnown) this.world.kill(this.world.mustOpen(host))
    else this.tools.expectRefused(host, ["SegmentMissing"])
    back()
  }

  /** Two faults at once: the manifest's checkpoint is older than its cursors, and the segments in between are gone. */
  private lostBelowCursor(host: SimHost): void {
    const writer = this.world.mustOpen(host)
    const start = this.world.stored.manifest?.checkpoint
    const last = this.tools.append(writer)
    if (last === undefined || start === undefined || last.slot !== start.slot) return
    this.world.commit(writer, last.lastSeq)
    this.world.run(manifestMillis)
    this.world.kill(writer)
    const { manifest } = this.world.stored
    if (manifest === undefined || manifest.trim.seq >= last.lastSeq) return
    const older = encodeManifest({ ...manifest, checkpoint: start })
    const manifestBack = this.tools.exchange(manifestKey(simPrefix), older)
    const segmentBack = this.tools.exchange(slotKey(simPrefix, last.epoch, last.slot), undefined)
    this.tools.expectRefused(host, ["SegmentMissing"])
    segmentBack()
    manifestBack()
  }

  /** Two openers put it back. */
  private lostMarker(host: SimHost): void {
    if (this.tools.killedAfterAppend(host) === undefined) return
    this.world.kill(this.world.mustOpen(host))
    const key = this.tools.newestMarker()
    if (key === undefined) return
    this.tools.exchange(key, undefined)
    const openers = this.tools.openTwo(host)
    this.tools.unless(openers.some(({ wal }) => wal !== undefined), () => `is not opened: ${openers[0]?.problem}`)
    this.tools.unless(this.world.bucket.objects.has(key), () => `end marker ${key} is not put back`)
  }

  private takenMarker(host: SimHost): void {
    const last = this.tools.killedAfterAppend(host)
    if (last === undefined) return
    this.world.kill(this.world.mustOpen(host))
    const key = this.tools.newestMarker()
    const other = this.tools.bodyOf(last)
    if (key === undefined || other === undefined) return
    const back = this.tools.exchange(key, other)
    this.tools.expectRefused(host, ["EndMarkerLost"])
    back()
  }

  private lostArchive(host: SimHost, key: string): void {
    const back = this.tools.exchange(key, undefined)
    this.tools.expectRefused(host, ["ManifestCorrupt"])
    back()
  }

  /** It stores slots faster than the opener asks, until a barrier stops it. */
  private busyWriter(host: SimHost): void {
    const { network } = this.world
    const other = this.tools.otherHost(host)
    if (other === undefined) return
    // An opener that has to ask for many pages is no match for it.
    network.listLongPages()
    const busy = this.world.mustOpen(host)
    const next = (slot: number): void => {
      if (slot > busySlots || !busy.isOpen) return
      this.tools.start(busy, () => next(slot + 1))
    }
    const manifest = manifestKey(simPrefix)
    // Before that it would be in the way of the claim.
    this.tools.onArrival("replace", manifest, () => {
      // A writer that hears of the claim stops by itself.
      const isDeaf = this.random.chance(0.5)
      network.decideFate = ({ key, process }) =>
        isDeaf && process === busy.process && key === manifest ? "lostRequest" : undefined
      for (let worker = 0; worker < this.world.options.parallelPut.workers; worker++) next(1)
    })
    const opener = this.world.start(other)
    opener.process.distance = nearest + this.random.next() * (farthest - nearest)
    this.world.untilOpened([opener])
    const isInTime = opener.wal !== undefined || opener.problem.startsWith("OpenTimeout")
    this.tools.unless(isInTime, () => `is not opened: ${opener.problem}`)
    network.decideFate = undefined
    this.world.run(manifestMillis)
  }

  /** It meets the marker while the answer for the slot below is still to come; and before that comes it hears of the claim. */
  private toldTwice(host: SimHost): void {
    const { network, options: { parallelPut } } = this.world
    const other = this.tools.otherHost(host)
    if (other === undefined || parallelPut.workers < 2) return
    const writer = this.world.mustOpen(host)
    const last = this.tools.append(writer)
    const { wal } = writer
    if (last === undefined || wal === undefined) return
    const [stored, marked] = [1, 2].map((more) => slotKey(simPrefix, last.epoch, last.slot + more))
    const openers: Array<SimWriter> = []
    // It may learn that the key is taken, and not by what.
    const isBlind = this.random.chance(0.5)
    network.decideFate = ({ key, operation, process }) => {
      if (process !== writer.process) return undefined
      if (key === stored) return "stalled"
      const isEarly = openers[0]?.wal === undefined
      if (key === marked) return isEarly || isBlind && operation === "get" ? "lostRequest" : undefined
      const isHeard = isBlind ? !isEarly : writer.status()?.state !== "open"
      return key === manifestKey(simPrefix) && !isHeard ? "lostRequest" : undefined
    }
    this.tools.start(writer, () => undefined)
    this.tools.start(writer, () => undefined)
    writer.run("trim", wal.trim(0))
    const opener = this.world.start(other)
    openers.push(opener)
    this.world.untilOpened([opener])
    this.world.run(manifestMillis)
    network.decideFate = undefined
    this.tools.unless(writer.status()?.state === "fenced", () => `${opener.name} has the log, and nobody is fenced`)
  }

  /** What was exchanged is back: nothing is missing, and the log opens. */
  private checkWhole(host: SimHost, name: string): void {
    this.world.network.onArrival.clear()
    const verified = this.world.ask(this.world.idle(host), "verify after sabotage", WalVerify.report(simLog))
    const found = Option.getOrUndefined(verified === undefined ? Option.none() : Exit.getSuccess(verified))
    const [first] = found?.findings ?? []
    this.tools.unless(
      found?.report.intact === true,
      () => `${name}: ${first === undefined ? "no answer of verify" : WalVerify.describeFinding(first)}`
    )
    if (!this.world.isBroken) this.world.kill(this.world.mustOpen(host))
  }
}
