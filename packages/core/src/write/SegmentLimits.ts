/** When a segment cannot take another record: pure arithmetic, shared by those who plan and those who fill. */
import type { Measured } from "./RecordCheck.ts"
import type { PendingSegment } from "./Segment.ts"

export interface SegmentLimits {
  readonly maxEntries: number
  /** Of payloads and optional fields. */
  readonly maxBytes: number
  /** Of the encoded body: readers refuse a larger one. */
  readonly maxSegmentBytes: number
}

/** How full a segment is. */
export interface SegmentFill {
  readonly entries: number
  readonly contentBytes: number
}

/** How full a segment is that is filling, or is not there yet. */
export const fillOf = (open: PendingSegment | undefined): SegmentFill => ({
  entries: open?.columns.count ?? 0,
  contentBytes: open?.contentBytes ?? 0
})

/** The most that the columns of one record take beside its content, and what a body has once. */
const columnBytes = 34
const bodyBytes = 8

/** The most content that so many records can have where readers still take the segment. */
export const largestContent = (limits: SegmentLimits, entries: number): number =>
  Math.min(limits.maxBytes, limits.maxSegmentBytes - entries * columnBytes - bodyBytes)

/**
 * Whether records of this size together, one if not told, need a new segment. An empty one takes any; one that is full takes
 * none, not even of no bytes: it is sealed as soon as it can be, and who plans must count as who fills does.
 */
export const isFullFor = (limits: SegmentLimits, fill: SegmentFill, contentBytes: number, entries = 1): boolean => {
  if (fill.entries === 0) return false
  const total = fill.entries + entries
  return total > limits.maxEntries || fill.contentBytes >= limits.maxBytes ||
    fill.contentBytes + contentBytes > largestContent(limits, total)
}

/** Up to where records of these sizes, from `start` on, go into a segment that takes the first of them. */
export const endOfFitting = (
  limits: SegmentLimits,
  { contentBytes, entries }: SegmentFill,
  sizes: ReadonlyArray<number>,
  start: number
): number => {
  let total = entries
  let content = contentBytes
  let end = start
  do {
    content += sizes[end++] ?? 0
    total++
  } while (
    end < sizes.length && content < limits.maxBytes && total < limits.maxEntries &&
    content + (sizes[end] ?? 0) <= largestContent(limits, total + 1)
  )
  return end
}

/** How many segments have to be sealed so that records of these sizes, in this order, find their place. */
export const sealsFor = (limits: SegmentLimits, start: SegmentFill, sizes: ReadonlyArray<number>): number => {
  let { contentBytes, entries } = start
  let seals = 0
  for (const size of sizes) {
    if (isFullFor(limits, { contentBytes, entries }, size)) {
      seals++
      entries = 0
      contentBytes = 0
    }
    entries++
    contentBytes += size
  }
  return seals
}

/** The same for a call; that of a producer stays together, and seals no more than what was open before. */
export const sealsForCall = (
  limits: SegmentLimits,
  start: SegmentFill,
  { call, contentBytes }: Pick<Measured, "call" | "contentBytes">
): number =>
  call === undefined
    ? sealsFor(limits, start, contentBytes)
    : Number(isFullFor(limits, start, call.contentBytes, contentBytes.length))
