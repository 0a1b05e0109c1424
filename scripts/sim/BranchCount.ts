/**
 * Counts how often each branch of the protocol is taken, without a probe in the code: the engine counts the runs of every
 * block of the sources as they stand (precise coverage of `node:inspector`), and a branch's count is that of the innermost
 * block at its place.
 *
 * Types are stripped in place when Node runs the sources, so an offset in the file is one in what runs. Only code that was
 * compiled after the start is counted by block: start before the first import of what is counted; `take` throws otherwise.
 */
import { readFileSync, realpathSync } from "node:fs"
import { type Profiler, Session } from "node:inspector"
import { join } from "node:path"
import { pathToFileURL } from "node:url"
import type { AnswerCounts } from "../../packages/testing/src/simulation/AnswerCount.ts"
import { type Branch, branchId, type BranchPlace, placeMark } from "./Branch.ts"
import { branches } from "./Branches.ts"

/** By `branchId`, one for each branch of the table: a plain object, so that processes can hand it on as JSON. */
export type BranchCounts = Readonly<Record<string, number>>

const root = join(import.meta.dirname, "..", "..")

/** The offset of a place in its file. Throws where the text does not stand exactly once. */
export const placeOffset = (source: string, { at, file }: BranchPlace): number => {
  const [before, after, ...more] = at.split(placeMark)
  if (before === undefined || after === undefined || more.length > 0) {
    throw new Error(`a place has one ${placeMark}: ${at}`)
  }
  const parts = source.split(before + after)
  if (parts.length !== 2) throw new Error(`${file} holds ${parts.length - 1} times, not once: ${before}${after}`)
  return (parts[0]?.length ?? 0) + before.length
}

interface Counted {
  readonly id: string
  readonly place: BranchPlace
  readonly offset: number
}

const length = ({ endOffset, startOffset }: Profiler.CoverageRange): number => endOffset - startOffset

const covers = ({ endOffset, startOffset }: Profiler.CoverageRange, offset: number): boolean =>
  startOffset <= offset && offset < endOffset

/** The innermost block at the offset, with its function. */
const innermost = (functions: ReadonlyArray<Profiler.FunctionCoverage>, offset: number) => {
  let found: { readonly range: Profiler.CoverageRange; readonly isBlockCoverage: boolean } | undefined
  for (const { isBlockCoverage, ranges } of functions) {
    for (const range of ranges) {
      if (!covers(range, offset)) continue
      if (found === undefined || length(range) < length(found.range)) found = { range, isBlockCoverage }
    }
  }
  return found
}

/** Counts in this process, from its start to its end. */
export class BranchCounter {
  private readonly session = new Session()
  /** By URL of the file. */
  private readonly counted = new Map<string, Array<Counted>>()
  private readonly totals = new Map<string, number>()

  constructor() {
    const sources = new Map<string, string>()
    for (const branch of branches) {
      if (typeof branch.count === "string") continue
      const path = realpathSync(join(root, branch.count.file))
      const source = sources.get(path) ?? readFileSync(path, "utf8")
      sources.set(path, source)
      const url = pathToFileURL(path).href
      const inFile = this.counted.get(url) ?? []
      this.counted.set(url, inFile)
      inFile.push({ id: branchId(branch), place: branch.count, offset: placeOffset(source, branch.count) })
    }
    this.session.connect()
    this.session.post("Profiler.enable")
    this.session.post("Profiler.startPreciseCoverage", { callCount: true, detailed: true })
  }

  /** Adds what was counted since the last time. Some milliseconds: not after every walk. */
  take(): void {
    let scripts: ReadonlyArray<Profiler.ScriptCoverage> | undefined
    // In a session with its own thread the answer is there when the call returns.
    this.session.post("Profiler.takePreciseCoverage", (error, answer) => {
      if (error !== null) throw error
      scripts = answer.result
    })
    if (scripts === undefined) throw new Error("the engine did not answer at once")
    for (const { functions, url } of scripts) {
      for (const one of this.counted.get(url) ?? []) this.add(one, functions)
    }
  }

  private add({ id, offset, place }: Counted, functions: ReadonlyArray<Profiler.FunctionCoverage>): void {
    const found = innermost(functions, offset)
    // Functions that did not run, in ones that did not, are left out.
    if (found === undefined || found.range.count === 0) return
    if (!found.isBlockCoverage) throw new Error(`${place.file} was loaded before counting was started`)
    this.totals.set(id, (this.totals.get(id) ?? 0) + found.range.count)
  }

  /** All counts up to the last `take`, with what the writers were answered. */
  counts(answers: AnswerCounts = new Map()): BranchCounts {
    return Object.fromEntries(branches.map((branch) => {
      const { count } = branch
      const id = branchId(branch)
      return [id, (typeof count === "string" ? answers.get(count) : this.totals.get(id)) ?? 0]
    }))
  }

  /** Ends the counting. */
  stop(): void {
    this.session.post("Profiler.stopPreciseCoverage")
    this.session.disconnect()
  }
}

/** The sum of what several processes have counted. */
export const mergeCounts = (all: ReadonlyArray<BranchCounts>): BranchCounts =>
  Object.fromEntries(branches.map((branch) => {
    const id = branchId(branch)
    return [id, all.reduce((sum, counts) => sum + (counts[id] ?? 0), 0)]
  }))

/** The branches that were taken less than `least` times, but for those that need what the run did not have. */
export const rareBranches = (
  counts: BranchCounts,
  least: number,
  without: ReadonlySet<Branch["needs"]> = new Set()
): ReadonlyArray<Branch> =>
  branches.filter((branch) =>
    (counts[branchId(branch)] ?? 0) < least && (branch.needs === undefined || !without.has(branch.needs))
  )
