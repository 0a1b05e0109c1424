/** What a call to append must be, and why nothing is taken right now. */
import { type AppendError, SequenceExhausted, WalClosed } from "../WalError.ts"
import type { AppendRecord } from "../WalRecord.ts"
import type { AppendOptions } from "../WalService.ts"
import type { BufferRoom } from "./BufferRoom.ts"
import { measureCall } from "./ProducerCheck.ts"
import { measure, type Measured } from "./RecordCheck.ts"
import type { SegmenterParts, SegmenterSettings } from "./SegmenterParts.ts"

export class AppendCheck {
  private readonly settings: SegmenterSettings
  private readonly parts: Pick<SegmenterParts, "digest" | "fate" | "refusal">
  private readonly buffer: BufferRoom
  private readonly last: () => number

  /** `last` is the last number given away. */
  constructor(
    settings: SegmenterSettings,
    parts: Pick<SegmenterParts, "digest" | "fate" | "refusal">,
    buffer: BufferRoom,
    last: () => number
  ) {
    this.settings = settings
    this.parts = parts
    this.buffer = buffer
    this.last = last
  }

  /** The records with what each takes, or the first thing that is wrong with the call. */
  measured(records: ReadonlyArray<AppendRecord>, { producer }: AppendOptions): Measured | AppendError {
    const refusal = this.refusal(records.length)
    if (refusal !== undefined) return refusal
    const measured = measure(records, this.settings.maxRecordBytes)
    if ("_tag" in measured || producer === undefined) return measured
    const limits = { ...this.settings, bufferBytes: this.buffer.largestCallBytes }
    return measureCall(measured, producer, limits, this.parts.digest)
  }

  /**
   * Why so many more records are not taken, whatever they are. A call of which a part was accepted waits for the disk as for
   * any other room: `DiskFull` says that nothing of a call was.
   */
  refusal(count: number, isBegun = false): AppendError | undefined {
    const { fate } = this.parts
    if (fate.refusal !== undefined) return fate.refusal
    if (fate.refusesAppends) return new WalClosed({ streamId: this.settings.streamId })
    return (isBegun ? undefined : this.parts.refusal()) ?? this.exhaustion(count)
  }

  /** So many more numbers do not exist. */
  exhaustion(count: number): SequenceExhausted | undefined {
    const { streamId } = this.settings
    return this.last() + count > Number.MAX_SAFE_INTEGER ? new SequenceExhausted({ streamId }) : undefined
  }
}
