/**
 * Appends batch after batch, in the order of the input, and knows at each moment how far the input is stored.
 *
 * Nothing is sent twice by it and nothing is passed over: it ends at the first thing that goes wrong, with the last line
 * that is stored and, where that cannot be known, the lines that may be.
 */
import { errorTable, type WalErrorTag } from "@effect-wal/core/ErrorTable"
import { Effect, Result } from "effect"
import type { AckLevel } from "../../api/Schemas.ts"
import { WalClientError } from "../../client/ClientError.ts"
import type { TaggedFailure } from "../Failure.ts"
import type { Progress } from "../Progress.ts"
import { type AppendInput, type Cut, cutLines, type CutOptions, readWhole } from "./AppendInput.ts"
import type { Batch } from "./LineBatches.ts"
import type { Placed, StreamWriter, TakenBatch } from "./Target.ts"

/** What is stored, as far as was asked for. */
export interface Tally {
  records: number
  bytes: number
  batches: number
  /** Records of batches that were there before. */
  repeated: number
  first: number | undefined
  last: number | undefined
  epoch: number | undefined
  /** The last line of the input that is stored. */
  through: { readonly file: string; readonly line: number } | undefined
}

/** Lines that were sent and of which nobody knows. */
export interface Unsure {
  readonly file: string
  readonly fromLine: number
  readonly toLine: number
  readonly records: number
}

/** A batch, and the input that it is from. */
export interface Piece {
  readonly file: string
  readonly batch: Batch
}

/** How it ended. */
export type AppendEnd =
  | { readonly _tag: "Done" }
  | { readonly _tag: "Stopped"; readonly unsure?: Unsure }
  | {
    readonly _tag: "Failed"
    readonly error: TaggedFailure
    readonly unsure?: Unsure
    /** The batch that was refused: nothing of it is stored by this run. */
    readonly refused?: Piece
  }

/** How it is appended. */
export interface AppendPlan extends CutOptions {
  readonly ack: AckLevel
  /** One record an input, whatever its bytes. */
  readonly raw: boolean
  /** Each batch has this key and its first line. */
  readonly key: string | undefined
  /** Completes when the user wants it to end. */
  readonly stop: Effect.Effect<unknown>
  readonly progress: Progress
}

/** Batches that wait for durability while the next ones are taken. */
const maxPending = 16

/** How long a batch that is under way is waited for once it should end. */
const stopGraceMillis = 10_000

interface Sent extends Piece {
  readonly taken: TakenBatch
}

const isWalErrorTag = (tag: string): tag is WalErrorTag => Object.hasOwn(errorTable, tag)

/** Whether the records of a call that failed so may be stored all the same. */
export const mayBeStored = (error: TaggedFailure): boolean => {
  if (error instanceof WalClientError) {
    const { reason } = error
    return "data" in reason ? reason.data !== "not-durable" : reason._tag !== "InvalidCall"
  }
  return isWalErrorTag(error._tag) && errorTable[error._tag].data !== "not-durable"
}

const unsureOf = (sent: ReadonlyArray<Piece>): { readonly unsure?: Unsure } => {
  const [first] = sent
  // Of several files the first one is named: what follows it is to be sent anew in any case.
  const same = sent.filter(({ file }) => file === first?.file)
  const last = same.at(-1)
  if (first === undefined || last === undefined) return {}
  return {
    unsure: {
      file: first.file,
      fromLine: first.batch.fromLine,
      toLine: last.batch.toLine,
      records: same.reduce((sum, { batch }) => sum + batch.payloads.length, 0)
    }
  }
}

/** One run over all inputs. */
class AppendRun {
  readonly tally: Tally = {
    records: 0,
    bytes: 0,
    batches: 0,
    repeated: 0,
    first: undefined,
    last: undefined,
    epoch: undefined,
    through: undefined
  }
  private readonly pending: Array<Sent> = []
  private readonly writer: StreamWriter
  private readonly plan: AppendPlan

  constructor(writer: StreamWriter, plan: AppendPlan) {
    this.writer = writer
    this.plan = plan
  }

  /** Completes with `undefined` once it should end and has had its time. */
  private inTime<A>(effect: Effect.Effect<A>): Effect.Effect<A | undefined> {
    const over = this.plan.stop.pipe(Effect.andThen(Effect.sleep(stopGraceMillis)), Effect.as(undefined))
    return Effect.raceFirst(effect, over)
  }

  private readonly count = (sent: Sent, placed: Placed): Effect.Effect<void> => {
    const { tally } = this
    const { bytes, payloads, toLine } = sent.batch
    tally.records += payloads.length
    tally.bytes += bytes
    tally.batches++
    if (placed.isRepeat) tally.repeated += payloads.length
    tally.first ??= placed.first
    tally.last = placed.last
    tally.epoch = placed.epoch
    tally.through = { file: sent.file, line: toLine }
    return this.plan.progress.advance(bytes + payloads.length)
  }

  /**
   * Waits for the oldest batches until so few are left; answers why that is not to be. Of `inHand` nobody knows either: a
   * batch behind them whose call did not end well.
   */
  readonly settle = Effect.fnUntraced(
    function*(
      this: AppendRun,
      left: number,
      inHand: ReadonlyArray<Piece> = []
    ): Effect.fn.Return<AppendEnd | undefined> {
      while (this.pending.length > left) {
        const [sent] = this.pending
        if (sent === undefined) return undefined
        const result = yield* this.inTime(Effect.result(sent.taken.settled))
        if (result === undefined) return { _tag: "Stopped", ...unsureOf([...this.pending, ...inHand]) }
        if (Result.isFailure(result)) {
          return { _tag: "Failed", error: result.failure, ...unsureOf([...this.pending, ...inHand]) }
        }
        this.pending.shift()
        yield* this.count(sent, result.success)
      }
      return undefined
    }
  )

  /** All that is under way first: it ends at the first batch that failed. */
  readonly endWith = (end: AppendEnd, inHand: ReadonlyArray<Piece> = []): Effect.Effect<AppendEnd> =>
    Effect.map(this.settle(0, inHand), (earlier) => earlier ?? { ...end, ...unsureOf(inHand) })

  readonly send = Effect.fnUntraced(
    function*(this: AppendRun, file: string, batch: Batch): Effect.fn.Return<AppendEnd | undefined> {
      const { ack, key, raw } = this.plan
      const name = key === undefined ? {} : { key: raw ? key : `${key}-${batch.fromLine}` }
      const records = batch.payloads.map((payload) => ({ payload }))
      const call = this.writer.append(records, { ack, form: raw ? "bytes" : "ndjson", ...name })
      const result = yield* this.inTime(Effect.result(call))
      const piece: Piece = { file, batch }
      if (result === undefined) return yield* this.endWith({ _tag: "Stopped" }, [piece])
      if (Result.isFailure(result)) {
        const error = result.failure
        return mayBeStored(error)
          ? yield* this.endWith({ _tag: "Failed", error }, [piece])
          : yield* this.endWith({ _tag: "Failed", error, refused: piece })
      }
      this.pending.push({ ...piece, taken: result.success })
      return yield* this.settle(maxPending - 1)
    }
  )

  private readonly sendAll = Effect.fnUntraced(
    function*(this: AppendRun, file: string, { batches, problem }: NonNullable<Cut>) {
      for (const batch of batches) {
        // One piece of the input can hold thousands of small batches.
        const isStopped = yield* Effect.raceFirst(Effect.as(this.plan.stop, true), Effect.as(Effect.yieldNow, false))
        if (isStopped) return yield* this.endWith({ _tag: "Stopped" })
        const end = yield* this.send(file, batch)
        if (end !== undefined) return end
      }
      return problem === undefined ? undefined : yield* this.endWith({ _tag: "Failed", error: problem })
    }
  )

  /** Lines of one input; answers why it is not to go on. */
  readonly lines = Effect.fnUntraced(function*(this: AppendRun, input: AppendInput, plan: CutOptions) {
    const { next } = yield* cutLines(input, plan)
    for (;;) {
      const cut = yield* Effect.raceFirst(next, Effect.as(this.plan.stop, "stop" as const))
      if (cut === "stop") return yield* this.endWith({ _tag: "Stopped" })
      if (cut === undefined) return undefined
      const end = yield* this.sendAll(input.name, cut)
      if (end !== undefined) return end
    }
  }, Effect.scoped)

  readonly whole = Effect.fnUntraced(function*(this: AppendRun, input: AppendInput) {
    const read = yield* Effect.raceFirst(Effect.result(readWhole(input)), Effect.as(this.plan.stop, "stop" as const))
    if (read === "stop") return yield* this.endWith({ _tag: "Stopped" })
    return Result.isFailure(read)
      ? yield* this.endWith({ _tag: "Failed", error: read.failure })
      : yield* this.send(input.name, read.success)
  })
}

/** Appends all inputs, one after the other; never fails, `end` says how it went. */
export const runAppend = Effect.fnUntraced(
  function*(writer: StreamWriter, inputs: ReadonlyArray<AppendInput>, plan: AppendPlan) {
    const run = new AppendRun(writer, plan)
    for (const [index, input] of inputs.entries()) {
      const fromLine = index === 0 ? plan.fromLine : 1
      const end = plan.raw ? yield* run.whole(input) : yield* run.lines(input, { ...plan, fromLine })
      if (end !== undefined) return { tally: run.tally, end }
    }
    const done: AppendEnd = { _tag: "Done" }
    return { tally: run.tally, end: yield* run.endWith(done) }
  }
)
