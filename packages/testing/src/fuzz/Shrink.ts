/** Makes an input that breaks a rule smaller while it still breaks the same one. */
import { Effect } from "effect"
import { spliced } from "./MutateBytes.ts"

/** Tries are bounded: an input need not be the smallest to be read by a person. */
const maxTries = 2_000

/**
 * Leaves pieces out, long ones first, then writes zeros over what is left. `repair` is tried on what does not break the
 * rule as it is.
 */
export const shrink = Effect.fnUntraced(function*(
  input: Uint8Array,
  stillBreaks: (candidate: Uint8Array) => Effect.Effect<boolean>,
  repair: (candidate: Uint8Array) => Uint8Array = (candidate) => candidate
) {
  let smallest = input
  let tries = 0
  const accepts = Effect.fnUntraced(function*(candidate: Uint8Array) {
    for (const one of new Set([candidate, repair(candidate)])) {
      if (tries++ >= maxTries) return false
      if (!(yield* stillBreaks(one))) continue
      smallest = one
      return true
    }
    return false
  })
  for (let length = input.length >>> 1; length >= 1 && tries < maxTries; length >>>= 1) {
    for (let at = 0; at < smallest.length && tries < maxTries;) {
      const removed = yield* accepts(spliced(smallest, at, Math.min(smallest.length, at + length), new Uint8Array(0)))
      if (!removed) at += length
    }
  }
  for (let at = 0; at < smallest.length && tries < maxTries; at++) {
    if (smallest[at] !== 0) yield* accepts(spliced(smallest, at, at + 1, new Uint8Array(1)))
  }
  return smallest
})
