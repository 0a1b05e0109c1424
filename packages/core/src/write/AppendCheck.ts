/** What a call to append must be, and why nothing is taken right now. */
import { Effect } from "effect"
import { type AppendError, SequenceExhausted, WalClosed, type WalEnd } from "../WalError.ts"
import type { AppendRecord } from "../WalRecord.ts"
import type { AppendOptions } from "../WalService.ts"
import type { BufferRoom } from "./BufferRoom.ts"
import { measureCall } from "./ProducerCheck.ts"
import { measure, type Measured } from "./RecordCheck.ts"
import type { Admitted, SegmenterParts, SegmenterSettings } from "./SegmenterParts.ts"

interface LogCounts {
  /** The last number given away. */
  readonly last: () => number
  /** `appended_at` of what is accepted now. */
  readonly now: () => number
}

export class AppendCheck {
  private readonly settings: SegmenterSettings
  private readonly parts: Pick<SegmenterParts, "digest" | "fate" | "producers" | "refusal">
  private readonly buffer: BufferRoom
  private readonly counts: LogCounts

  constructor(
    settings: SegmenterSettings,
    parts: Pick<SegmenterParts, "digest" | "fate" | "producers" | "refusal">,
    buffer: BufferRoom,
    counts: LogCounts
  ) {
    this.settings = settings
    this.parts = parts
    this.buffer = buffer
    this.counts = counts
  }

  /** The records with what each takes, or the first thing that is wrong with the call. */
  measured(records: ReadonlyArray<AppendRecord>, { producer }: AppendOptions): Measured | AppendError {
    const { over } = this
    if (over !== undefined) return over
    const measured = measure(records, this.settings.maxRecordBytes)
    if ("_tag" in measured || producer === undefined) return measured
    const limits = { ...this.settings, bufferBytes: this.buffer.largestCallBytes }
    return measureCall(measured, producer, limits, this.parts.digest)
  }

  /** The answer to a call of which so many records were taken: as the first time where it is not new, or a refusal. */
  answered({ call, records }: Measured, taken = 0): Effect.Effect<Admitted, AppendError> | undefined {
    const { over } = this
    if (over !== undefined) return Effect.fail(over)
    const known = call && this.parts.producers.answer(call, records.length, this.counts.now())
    if (known !== undefined) return known
    const refusal = this.refusal(records.length - taken, taken > 0)
    return refusal && Effect.fail(refusal)
  }

  /** Why no call is answered any more. */
  private get over(): WalEnd | undefined {
    const { fate } = this.parts
    if (fate.refusal !== undefined) return fate.refusal
    return fate.refusesAppends ? new WalClosed({ streamId: this.settings.streamId }) : undefined
  }

  /**
   * Why so many more records are not taken, whatever they are: nothing of them was, so it is no answer to a call that was
   * accepted before. One of which a part was waits for the disk as for any other room.
   */
  private refusal(count: number, isBegun: boolean): AppendError | undefined {
    return (isBegun ? undefined : this.parts.refusal()) ?? this.exhaustion(count)
  }

  /** So many more numbers do not exist. */
  exhaustion(count: number): SequenceExhausted | undefined {
    const { streamId } = this.settings
    return this.counts.last() + count > Number.MAX_SAFE_INTEGER ? new SequenceExhausted({ streamId }) : undefined
  }
}
