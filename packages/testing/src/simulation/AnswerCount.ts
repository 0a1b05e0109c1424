/**
 * Counts what writers are answered, where their code does not tell answers apart: the rows of the table of PUT results, and
 * how the compare-and-swap of claim and activation goes.
 *
 * Plain synchronous code on the requests that a simulated store answers anyhow: it changes no schedule.
 */
import type { ObjectStore } from "@effect-wal/core/store/ObjectStore"
import type { ObjectStoreError, Operation, Reason } from "@effect-wal/core/store/ObjectStoreError"
import { Effect, Option, Schema } from "effect"

/**
 * What a writer sees of the store that its code does not tell apart by a branch: a 409 and a time-out are tried again by
 * the same line, and the swap of the manifest is one function for claim, activation and commits.
 */
export type AnswerName = `${AnsweredCreate}: ${CreateAnswer}` | `${SwapStep}: ${SwapEnd}`
type AnsweredCreate = "segment" | "manifest creation"
type CreateAnswer =
  | "200"
  | "412"
  | "409"
  | "429"
  | "5xx or reset"
  | "timeout"
  | "403"
  | "no bucket"
  | "credentials"
  | "other"
type SwapStep = "claim" | "activation" | "commit"
type SwapEnd =
  | "200"
  | "412"
  | "unknown"
  | "refused"
  | "read back, mine"
  | "read back, again"
  | "read back, another writer's"

/** How often each answer was given. */
export type AnswerCounts = Map<AnswerName, number>

/** An answer as the writer gets it. One that is lost for ever is none. */
export interface GivenAnswer {
  readonly operation: Operation
  readonly key: string
  /** What was sent; for a `get` that succeeded what was read. */
  readonly body?: Uint8Array
  /** Absent: success. */
  readonly reason?: Reason
}

/** The fields of a manifest that tell whose it is and for which step it was written. */
const ManifestHead = Schema.Struct({
  epoch: Schema.Int,
  nonce: Schema.String,
  commit_id: Schema.String,
  live: Schema.Int
})
type ManifestHead = typeof ManifestHead.Type

const decodeHead = Schema.decodeUnknownOption(Schema.fromJsonString(ManifestHead))

/** `undefined` for what is no manifest. */
const headOf = (body: Uint8Array): ManifestHead | undefined =>
  Option.getOrUndefined(decodeHead(new TextDecoder().decode(body)))

const createAnswers: Readonly<Record<Reason, CreateAnswer>> = {
  AlreadyExists: "412",
  PreconditionFailed: "412",
  NotFound: "other",
  Conflict: "409",
  Throttled: "429",
  Unavailable: "5xx or reset",
  TimedOut: "timeout",
  AccessDenied: "403",
  NoSuchBucket: "no bucket",
  CredentialsUnavailable: "credentials",
  StoreFull: "other",
  NotSupported: "other",
  UnexpectedResponse: "other"
}

const swapEnds: Readonly<Record<Reason, "412" | "unknown" | "refused">> = {
  AlreadyExists: "refused",
  PreconditionFailed: "412",
  NotFound: "412",
  Conflict: "unknown",
  Throttled: "unknown",
  Unavailable: "unknown",
  TimedOut: "unknown",
  AccessDenied: "refused",
  NoSuchBucket: "refused",
  CredentialsUnavailable: "refused",
  StoreFull: "refused",
  NotSupported: "refused",
  UnexpectedResponse: "unknown"
}

/** The kind of an object below `segments/`, after magic and version. */
const kindOffset = 10
const segmentKind = 1

interface PendingSwap {
  readonly step: SwapStep
  readonly head: ManifestHead
}

/** The answers that the writers of one process get, one writer after the other. */
export class ProcessAnswers {
  private readonly counts: AnswerCounts
  /** The writer that has swapped last, and whether its epoch was activated. */
  private nonce = ""
  private isActive = false
  /** A swap without a success, until the manifest is read. */
  private pending: PendingSwap | undefined = undefined

  constructor(counts: AnswerCounts) {
    this.counts = counts
  }

  /** Told of each answer, in the order in which the process gets them. */
  answered(answer: GivenAnswer): void {
    const { body, key, operation, reason } = answer
    if (body === undefined) return
    if (operation === "create" && key.endsWith(".seg")) {
      if (body[kindOffset] === segmentKind) this.created("segment", reason)
    } else if (key.endsWith("/manifest.json")) {
      if (operation === "create") this.created("manifest creation", reason)
      if (operation === "replace") this.swapped(headOf(body), reason)
      if (operation === "get" && this.pending !== undefined) this.readBack(this.pending, headOf(body))
    }
  }

  private count(name: AnswerName): void {
    this.counts.set(name, (this.counts.get(name) ?? 0) + 1)
  }

  private created(what: AnsweredCreate, reason: Reason | undefined): void {
    this.count(`${what}: ${reason === undefined ? "200" : createAnswers[reason]}`)
  }

  private swapped(head: ManifestHead | undefined, reason: Reason | undefined): void {
    if (head === undefined) return
    if (head.nonce !== this.nonce) {
      this.nonce = head.nonce
      this.isActive = false
    }
    const step = this.isActive ? "commit" : head.live === head.epoch ? "activation" : "claim"
    this.count(`${step}: ${reason === undefined ? "200" : swapEnds[reason]}`)
    this.pending = reason === undefined ? undefined : { step, head }
    if (reason === undefined && step === "activation") this.isActive = true
  }

  private readBack({ head, step }: PendingSwap, found: ManifestHead | undefined): void {
    this.pending = undefined
    if (found === undefined) return
    if (found.commit_id === head.commit_id) {
      this.count(`${step}: read back, mine`)
      if (step === "activation") this.isActive = true
      return
    }
    // A claim may start from anybody's manifest; a writer with an epoch only from its own.
    const isMine = found.epoch === head.epoch && found.nonce === head.nonce
    this.count(`${step}: read back, ${step === "claim" || isMine ? "again" : "another writer's"}`)
  }
}

/** A store whose answers are counted for the process that has it. */
export const countingStore = (store: ObjectStore["Service"], counts: AnswerCounts): ObjectStore["Service"] => {
  const answers = new ProcessAnswers(counts)
  const told = <A>(
    answer: Omit<GivenAnswer, "reason">,
    effect: Effect.Effect<A, ObjectStoreError>,
    bodyOf: (value: A) => Uint8Array | undefined = () => answer.body
  ): Effect.Effect<A, ObjectStoreError> =>
    effect.pipe(
      Effect.tap((value) => {
        const body = bodyOf(value)
        answers.answered({ ...answer, ...(body === undefined ? {} : { body }) })
        return Effect.void
      }),
      Effect.tapError(({ reason }) => {
        answers.answered({ ...answer, reason })
        return Effect.void
      })
    )
  return {
    ...store,
    get: (key, request) => told({ operation: "get", key }, store.get(key, request), ({ body }) => body),
    create: (key, body, options) => told({ operation: "create", key, body }, store.create(key, body, options)),
    replace: (key, body, expected, options) =>
      told({ operation: "replace", key, body }, store.replace(key, body, expected, options))
  }
}
