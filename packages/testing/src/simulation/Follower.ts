/** A live reader of one writer: what it has been shown, and whether it still waits. */
import type { ObjectStore } from "@effect-wal/core/store/ObjectStore"
import type { ReadError } from "@effect-wal/core/WalError"
import type { WalRecord } from "@effect-wal/core/WalRecord"
import { Effect, Stream } from "effect"
import { idOf } from "./Payload.ts"
import type { RecordOracle } from "./RecordOracle.ts"
import type { SimWriter } from "./SimWriter.ts"
import type { Violations } from "./Violations.ts"

export interface FollowerParts {
  readonly writer: SimWriter
  readonly what: string
  /** The first number that it wants. */
  readonly from: number
  /** How long it works on a record, milliseconds. */
  readonly workMillis: number
  readonly records: RecordOracle
  readonly violations: Violations
}

/** It keeps a record until it was shown so many more. */
const keptFor = 20

export class Follower {
  readonly writer: SimWriter
  readonly what: string
  private last: number
  private isOver = false
  /** A record that it was shown some time ago and still has. */
  private kept: { readonly record: WalRecord; readonly id: number } | undefined = undefined

  constructor(parts: FollowerParts, stream: Stream.Stream<WalRecord, ReadError, ObjectStore>) {
    const { from, records, violations, what, workMillis, writer } = parts
    this.writer = writer
    this.what = what
    this.last = from - 1
    const shown = (record: WalRecord) =>
      Effect.suspend(() => {
        violations.unless(record.seq === this.last + 1, () => `P3: ${what} was shown ${record.seq} after ${this.last}`)
        this.last = record.seq
        records.shown(record.seq, idOf(record.payload))
        this.keeps(record, violations)
        return workMillis === 0 ? Effect.void : Effect.sleep(workMillis)
      })
    writer.watch(what, Stream.runForEach(stream, shown), () => {
      this.isOver = true
    })
  }

  /** What it keeps stays as it was, whatever the log does with its memory. */
  private keeps(record: WalRecord, violations: Violations): void {
    const { kept } = this
    if (kept !== undefined && record.seq < kept.record.seq + keptFor) return
    violations.unless(
      kept === undefined || idOf(kept.record.payload) === kept.id,
      () => `P3: record ${kept?.record.seq} has changed in the hands of ${this.what}`
    )
    this.kept = { record, id: idOf(record.payload) }
  }

  /** Why it should have been told more; `undefined` where it has all, or is over, or its process is no more. */
  get lag(): string | undefined {
    const status = this.writer.process.state === "dead" || this.isOver ? undefined : this.writer.status()
    if (status === undefined) return undefined
    if (status.state !== "open") return `${this.what} waits, and its log is ${status.state}`
    return this.last < status.durable ? `${this.what} is at ${this.last}, durable is ${status.durable}` : undefined
  }
}
