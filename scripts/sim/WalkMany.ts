/** Walks in several processes side by side, and adds up what they say. */
import { nowMillis } from "../acceptance/Run.ts"
import { mergeCounts } from "./BranchCount.ts"
import { startWalking, type WalkProcess, type WalkProcessEnd } from "./WalkProcess.ts"
import { addSums, noWalks, type WalkSums } from "./WalkSums.ts"

export interface WalkRange {
  readonly from: number
  readonly walks: number
  readonly processes: number
  readonly minutes: number
  readonly branches: boolean
  /** End at the first walk that finds something. */
  readonly stopsAtFirst: boolean
  /** The tree whose code is walked. */
  readonly root: string
  /** One walk takes no longer than so many milliseconds, or its process is killed; absent: nobody looks. */
  readonly walkMillis?: number
  /** A folder for compiled code, so that the next process loads it faster. */
  readonly compileCache?: string
}

export interface Walked extends WalkProcessEnd {
  readonly sums: WalkSums
  readonly wallMs: number
}

const progressMillis = 10_000

const rate = (sums: WalkSums, millis: number): string =>
  `${sums.walks} walks, ${(sums.walks / Math.max(1, millis) * 1_000).toFixed(1)} a second, ${sums.found.length} broken`

/** Walks a range. Calls back after each part, and every ten seconds with how far it is. */
export const walkMany = async (
  range: WalkRange,
  hooks: { readonly onPart: (part: WalkSums) => void; readonly progress: (text: string) => void }
): Promise<Walked> => {
  const startedAt = nowMillis()
  const untilMillis = range.minutes === Infinity ? Infinity : new Date().getTime() + range.minutes * 60_000
  let sums = noWalks
  const branches: Array<NonNullable<WalkSums["branches"]>> = []
  const running: Array<WalkProcess> = []
  const timer = setInterval(() => hooks.progress(rate(sums, nowMillis() - startedAt)), progressMillis)
  const stop = () => {
    for (const one of running) one.kill()
  }
  const onPart = (part: WalkSums) => {
    if (range.stopsAtFirst && sums.found.length > 0) return
    sums = addSums(sums, part)
    if (part.branches !== undefined) branches.push(part.branches)
    hooks.onPart(part)
    if (range.stopsAtFirst && part.found.length > 0) stop()
  }
  const runOne = async (at: number): Promise<WalkProcessEnd> => {
    const one = startWalking({
      root: range.root,
      from: range.from + at,
      end: range.from + range.walks,
      step: range.processes,
      untilMillis,
      branches: range.branches,
      walkMillis: range.walkMillis,
      compileCache: range.compileCache,
      onPart
    })
    running.push(one)
    const ended = await one.ended
    if (range.stopsAtFirst && (ended.endless ?? ended.broken) !== undefined) stop()
    return ended
  }
  process.once("SIGINT", stop)
  process.once("SIGTERM", stop)
  const count = Math.min(range.processes, range.walks)
  const ends = await Promise.all(Array.from({ length: count }, (_, at) => runOne(at)))
  clearInterval(timer)
  process.off("SIGINT", stop)
  process.off("SIGTERM", stop)
  const merged = branches.length === 0 ? {} : { branches: mergeCounts(branches) }
  return {
    sums: { ...sums, ...merged },
    wallMs: Math.round(nowMillis() - startedAt),
    isLoaded: ends.some((one) => one.isLoaded),
    broken: ends.find((one) => one.broken !== undefined)?.broken,
    endless: ends.find((one) => one.endless !== undefined)?.endless
  }
}
