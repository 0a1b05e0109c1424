/** Memory of a log with a live reader, against how far the reader is behind. */
import type { WalService } from "@effect-wal/core/WalService"
import { Effect, Fiber, Latch, References, Stream } from "effect"
import type { BenchContext } from "../Bench.ts"
import { usedBytes } from "../support/Heap.ts"
import { LargeStore } from "../support/LargeStore.ts"
import { openLog } from "../support/OpenLog.ts"
import { type Curve, type CurveLine, flat } from "./Curve.ts"

const mebibyte = 1_048_576
/** Each is a segment of its own. The store packs them to almost nothing, so that only what the log holds counts. */
const record = { payload: new Uint8Array(mebibyte - 1_024) }
/** As many as fill the window of newest segments. */
const firstRecords = 32

/** A moment later: what the last steps have left behind is swept up by then. */
const usedNow = Effect.andThen(Effect.sleep(50), Effect.sync(usedBytes))

/** A live reader that stops at a number and says so. */
class SlowReader {
  /** The number after which it stops. */
  stopAt: number
  private readonly mayGoOn = Latch.makeUnsafe(false)
  private readonly hasStopped = Latch.makeUnsafe(false)

  constructor(stopAt: number) {
    this.stopAt = stopAt
  }

  read(wal: WalService) {
    return Stream.runForEach(wal.read({ until: "live" }), ({ seq }) =>
      Effect.suspend(() => {
        if (seq !== this.stopAt) return Effect.void
        Latch.openUnsafe(this.hasStopped)
        return this.mayGoOn.await
      }))
  }

  /** Waits until it has stopped. */
  get stopped() {
    return this.hasStopped.await
  }

  goOnTo(seq: number): void {
    this.stopAt = seq
    Latch.closeUnsafe(this.hasStopped)
    Latch.openUnsafe(this.mayGoOn)
    Latch.closeUnsafe(this.mayGoOn)
  }
}

/** What goes with the reader, bytes: while it stands so far behind, and when it is half-way back. */
const lagOf = Effect.fnUntraced(function*(mebibytes: number) {
  const wal = yield* openLog(new LargeStore().store, { parallelPut: { workers: 4 } })
  const write = Effect.fnUntraced(function*(records: number) {
    for (let nth = 0; nth < records; nth++) yield* wal.append([record])
    yield* wal.flush
  })
  yield* write(firstRecords)
  const reader = new SlowReader(firstRecords)
  const reading = yield* Effect.forkChild(reader.read(wal))
  yield* reader.stopped
  yield* write(mebibytes)
  const behind = yield* usedNow
  reader.goOnTo(firstRecords + mebibytes / 2)
  yield* reader.stopped
  const back = yield* usedNow
  yield* Fiber.interrupt(reading)
  const without = yield* usedNow
  return { behind: behind - without, back: back - without }
}, Effect.scoped)

export const readerLagCurve = async (context: BenchContext): Promise<Curve> => {
  const lags = context.quick ? [16, 64, 256] : [16, 64, 256, 1_024]
  const total = lags.reduce((sum, lag) => sum + lag, 0)
  const seen: Array<{ readonly lag: number; readonly behind: number; readonly back: number }> = []
  let done = 0
  for (const lag of lags) {
    context.progress(done / total, `a reader ${lag} MiB behind`)
    const found = await Effect.runPromise(Effect.provideService(lagOf(lag), References.MinimumLogLevel, "None"))
    seen.push({ lag, ...found })
    done += lag
  }
  const lineOf = (name: string, of: "back" | "behind"): CurveLine => ({
    name,
    points: seen.map((one) => ({ x: one.lag, rounds: [one[of] / mebibyte] }))
  })
  const behind = lineOf("while it stands still", "behind")
  const back = lineOf("while it reads on, half-way back", "back")
  return {
    name: "reader-lag",
    title: "Memory, against the lag of a live reader",
    x: { label: "lag", unit: "MiB" },
    y: { label: "memory for the reader", unit: "MiB" },
    lines: [behind, back],
    verdicts: [
      flat(behind, { metric: "memory with a reader that stands still", from: 64 }),
      flat(back, { metric: "memory with a reader that comes back", from: 64 })
    ]
  }
}
