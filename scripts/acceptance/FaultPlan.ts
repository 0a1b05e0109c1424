/** Which fault a request on the way to the store meets: chance by weight, apart from what is then done. */

/** What can happen to a request. */
export const faultKinds = [
  /** The connection is cut before the store has heard of the request. */
  "cutBefore",
  /** The store gets half of the body, then nothing more. */
  "cutRequestBody",
  /** The request is applied, and the connection cut in the middle of the body of the answer. */
  "cutAnswerBody",
  /** The request is applied, and the connection cut instead of an answer. */
  "cutAfter",
  /** The request waits, within the deadline of the client. */
  "delayed",
  /** The request waits beyond the deadline of the client, and is applied then. */
  "delayedBeyondDeadline",
  /** The request is swallowed: nobody ever hears of it again, and the connection stays. */
  "dropped",
  /** The client is cut off at once; the request reaches the store seconds later. */
  "ghosts",
  /** 500, 502, 503 or 504, with XML, HTML or nothing in the body; not applied. */
  "answered5xx",
  /** The same, after the request was applied. */
  "answered5xxApplied",
  /** 429, not applied. */
  "answered429"
] as const
export type FaultKind = typeof faultKinds[number]

/** How bad it is: none at all, now and then, or nothing gets through. */
export type Weather = "calm" | "rough" | "outage"

/** What the choice depends on. */
export interface FaultedRequest {
  /** It can change what is stored. */
  readonly changes: boolean
  readonly bodyBytes: number
}

/** One request in so many meets a fault in rough weather. */
const roughOneIn = 8

type Weights = Readonly<Partial<Record<FaultKind, number>>>

/** By the share of all faults; a kind that a request cannot meet leaves its share to the others. */
const roughWeights: Weights = {
  cutBefore: 3,
  cutRequestBody: 2,
  cutAnswerBody: 2,
  cutAfter: 4,
  delayed: 5,
  delayedBeyondDeadline: 1,
  dropped: 1,
  ghosts: 3,
  answered5xx: 4,
  answered5xxApplied: 2,
  answered429: 2
}

const outageWeights: Weights = { cutBefore: 6, dropped: 1, ghosts: 1, answered5xx: 4, answered429: 1 }

const canMeet = (kind: FaultKind, { bodyBytes, changes }: FaultedRequest): boolean => {
  switch (kind) {
    case "cutRequestBody":
      return bodyBytes >= 2
    case "ghosts":
      return changes
    default:
      return true
  }
}

/** The fault of a request, or none; `chance` gives numbers from 0 (inclusive) to 1 (exclusive). */
export const chooseFault = (
  chance: () => number,
  weather: Weather,
  request: FaultedRequest
): FaultKind | undefined => {
  if (weather === "calm" || (weather === "rough" && chance() >= 1 / roughOneIn)) return undefined
  const weights = weather === "rough" ? roughWeights : outageWeights
  const possible = faultKinds.filter((kind) => canMeet(kind, request))
  const total = possible.reduce((sum, kind) => sum + (weights[kind] ?? 0), 0)
  let left = chance() * total
  for (const kind of possible) {
    left -= weights[kind] ?? 0
    if (left < 0) return kind
  }
  return undefined
}
