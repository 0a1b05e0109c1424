/**
 * What damage to a log in use takes: processes that are asked, objects that are exchanged and put back, answers that must
 * come.
 */
import { manifestKey, slotKey } from "@effect-wal/core/format/ObjectKey"
import { Cause, Effect, Exit } from "effect"
import type { SegmentFact } from "./BucketOracle.ts"
import type { AskedRequest } from "./Network.ts"
import { recordOf } from "./Payload.ts"
import type { SimHost } from "./SimHost.ts"
import { simPrefix } from "./SimLog.ts"
import type { SimWriter } from "./SimWriter.ts"
import type { World } from "./World.ts"

/** Ids of its records, from here up; a walk and its end use others. */
const firstOwnId = 0xffff_f000
/** How much longer the way of the first of two openers is. */
const slow = 2

export class SabotageTools {
  private readonly world: World
  private nextId = firstOwnId

  constructor(world: World) {
    this.world = world
  }

  /** One record in a segment of its own; `then` once it has an answer. */
  start(writer: SimWriter, then: () => void): void {
    const { wal } = writer
    if (wal === undefined) return
    const append = Effect.flatMap(wal.appendNow([recordOf(this.nextId++, 4)]), ({ durable }) => durable)
    const what = `busy ${this.nextId}`
    writer.run(what, Effect.all([append, wal.flush], { concurrency: "unbounded", discard: true }), then)
  }

  tryAppend(writer: SimWriter): Exit.Exit<unknown, unknown> | undefined {
    const { wal } = writer
    if (wal === undefined) return undefined
    const append = wal.append([recordOf(this.nextId++, 4)])
    return this.world.ask(writer, "append", Effect.flatMap(append, ({ durable }) => durable))
  }

  /** The segment of a record that is durable now. */
  append(writer: SimWriter): SegmentFact | undefined {
    const exit = this.tryAppend(writer)
    this.unless(exit !== undefined && Exit.isSuccess(exit), () => "an append has no success before anything is wrong")
    const last = this.world.stored.inLog.at(-1)
    return last?.epoch === writer.status()?.epoch ? last : undefined
  }

  killedAfterAppend(host: SimHost): SegmentFact | undefined {
    const writer = this.world.mustOpen(host)
    const last = this.append(writer)
    this.world.killForGood(writer)
    return last
  }

  newestMarker(): string | undefined {
    const end = this.world.stored.manifest?.ends.at(-1)
    return end === undefined ? undefined : slotKey(simPrefix, end.epoch, end.slot)
  }

  bodyOf({ epoch, slot }: SegmentFact): Uint8Array | undefined {
    return this.world.bucket.objects.get(slotKey(simPrefix, epoch, slot))?.body
  }

  otherHost(host: SimHost): SimHost | undefined {
    const { hosts, settings } = this.world
    // A spool has one process at a time.
    return hosts.find((one) => one !== host) ?? (settings.spoolBytes === undefined ? host : undefined)
  }

  /**
   * Two processes open the log, where there is room for two: the second claims it from the first, which is slow. They are
   * gone after it.
   */
  openTwo(host: SimHost): ReadonlyArray<SimWriter> {
    const other = this.otherHost(host)
    const openers = [this.world.start(host)]
    if (other !== undefined) {
      for (const { process } of openers) process.distance = slow
      this.onArrival("replace", manifestKey(simPrefix), () => openers.push(this.world.start(other)))
    }
    this.world.untilOpened(openers)
    for (const opener of openers) this.world.kill(opener)
    return openers
  }

  /** Once, right before a request reaches the store. */
  onArrival(operation: string, key: string, act: () => void): void {
    const { onArrival } = this.world.network
    const arrives = (request: AskedRequest): void => {
      if (request.operation !== operation || request.key !== key) return
      onArrival.delete(arrives)
      act()
    }
    onArrival.add(arrives)
  }

  /** Puts something else in the place of an object, or takes it away; what is returned puts it back. */
  exchange(key: string, body: Uint8Array | undefined): () => void {
    const { bucket, trace } = this.world
    const before = bucket.objects.get(key)?.body
    trace.add(`${key} is ${body === undefined ? "taken away" : "exchanged"}`)
    bucket.damage(key, body)
    return () => {
      trace.add(`${key} is as it was`)
      bucket.damage(key, before)
    }
  }

  unless(isRight: boolean, what: () => string): void {
    if (!this.world.isBroken) this.world.violations.unless(isRight, () => `sabotage: ${what()}`)
  }

  expect(tag: string, exit: Exit.Exit<unknown, unknown> | undefined): void {
    const text = exit === undefined || Exit.isSuccess(exit) ? "success, or no answer" : Cause.pretty(exit.cause)
    this.unless(text.includes(tag), () => `expected ${tag}: ${text}`)
  }

  expectRefused(host: SimHost, tags: ReadonlyArray<string>): void {
    const opener = this.world.open(host)
    const isRefused = tags.some((tag) => opener.problem.startsWith(tag))
    this.unless(isRefused, () => `expected ${tags.join(" or ")}: ${opener.problem || "the log is open"}`)
    this.world.kill(opener)
  }
}
