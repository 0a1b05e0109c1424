/**
 * The mark of one cursor and the acknowledged ranges above it, as a pure value.
 *
 * Invariants: the mark never falls and never passes a number that was not acknowledged · ranges are ascending, disjoint,
 * not adjacent, and lie above mark + 1.
 */

export interface SeqRange {
  /** Inclusive. */
  readonly from: number
  /** Inclusive. */
  readonly to: number
}

export interface AckRanges {
  readonly mark: number
  readonly ahead: ReadonlyArray<SeqRange>
}

export const startAt = (mark: number): AckRanges => ({ mark, ahead: [] })

/** Index of the first range that ends at or after `seq` - 1, so that it joins or follows a range from `seq`. */
const firstTouching = (ahead: ReadonlyArray<SeqRange>, seq: number): number => {
  let low = 0
  let high = ahead.length
  while (low < high) {
    const middle = (low + high) >>> 1
    const range = ahead[middle]
    if (range !== undefined && range.to < seq - 1) low = middle + 1
    else high = middle
  }
  return low
}

/** The state after these numbers are done; repeats and numbers at or below the mark change nothing. */
export const acknowledge = (state: AckRanges, done: SeqRange): AckRanges => {
  let from = Math.max(done.from, state.mark + 1)
  let to = done.to
  if (to < from) return state
  const start = firstTouching(state.ahead, from)
  let end = start
  for (let range = state.ahead[end]; range !== undefined && range.from <= to + 1; range = state.ahead[++end]) {
    from = Math.min(from, range.from)
    to = Math.max(to, range.to)
  }
  const rest = [...state.ahead.slice(0, start), ...state.ahead.slice(end)]
  if (from === state.mark + 1) return { mark: to, ahead: rest }
  rest.splice(start, 0, { from, to })
  return { mark: state.mark, ahead: rest }
}

/** The state after everything up to `seq` is done. A lower value than the mark changes nothing. */
export const commitThrough = (state: AckRanges, seq: number): AckRanges =>
  seq <= state.mark ? state : acknowledge(state, { from: state.mark + 1, to: seq })
