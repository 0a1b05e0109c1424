/**
 * The checks of an object store: each permission by itself, what is read after a write, listings, conditional writes,
 * times, settings of the bucket.
 *
 * Everything that is written lies below `probe/` of the log's prefix, where the log itself probes a store at its start, and
 * is removed at the end, however that comes. A running writer is not disturbed.
 */
import { encodeText, equalBytes } from "@effect-wal/core/format/Bytes"
import { probeKey } from "@effect-wal/core/format/ObjectKey"
import { NonceSource } from "@effect-wal/core/Nonce"
import { ObjectStore } from "@effect-wal/core/store/ObjectStore"
import type { ObjectStoreError } from "@effect-wal/core/store/ObjectStoreError"
import { type Backoff, retryWhilePassing } from "@effect-wal/core/store/StoreRetry"
import type { WalOptions } from "@effect-wal/core/WalOptions"
import { probeStore } from "@effect-wal/core/WalProbe"
import { Duration, Effect, Result } from "effect"
import { humanMillis } from "../HumanText.ts"
import { measured } from "../Measure.ts"
import { removeObjects } from "../RemoveObjects.ts"
import { type CheckResult, good, skipped, type Tell } from "./Check.ts"
import { isUnreachable, type Place, refusedRow } from "./StoreAnswer.ts"
import { timeChecks } from "./StoreTimes.ts"

/** What the checks of one stream's store work with. */
export interface StoreCheckup {
  readonly store: ObjectStore["Service"]
  readonly options: WalOptions
  /** Where its keys start. */
  readonly prefix: string
  readonly place: Place
  readonly tell: Tell
  /** Requests of each kind whose times are taken. */
  readonly tries: number
  /** Size of the objects whose times are taken, bytes. */
  readonly objectBytes: number
}

/** A few tries, so that one lost answer is no finding. */
const backoff: Backoff = { base: Duration.millis(100), cap: Duration.seconds(1) }
const attempts = 3

const repeated = <A>(request: Effect.Effect<A, ObjectStoreError>) => retryWhilePassing(request, { backoff, attempts })

const answerOf = <A>(request: Effect.Effect<A, ObjectStoreError>) => Effect.result(measured(request))

/** A request that may be repeated. */
const asked = <A>(request: Effect.Effect<A, ObjectStoreError>) => answerOf(repeated(request))

/** Objects for the check of listings: more than two pages of `pageLimit`. */
const listedObjects = 7
const pageLimit = 3

interface Probe {
  readonly checkup: StoreCheckup
  readonly key: (part: string) => string
  /** Every key that may have been written. */
  readonly keys: Set<string>
}

const write = (probe: Probe, part: string, body: Uint8Array) =>
  Effect.suspend(() => {
    const key = probe.key(part)
    probe.keys.add(key)
    return probe.checkup.store.create(key, body)
  })

/**
 * Writes with a few tries. A later one can meet the object of an earlier one, whose answer was lost: nobody else has the
 * key, so an object with the same bytes is that.
 */
const create = (probe: Probe, part: string, body: Uint8Array) => {
  let tries = 0
  const attempt = Effect.suspend(() => {
    tries++
    return write(probe, part, body)
  })
  return repeated(Effect.catchIf(
    attempt,
    (error) => error.reason === "AlreadyExists" && tries > 1,
    (error) =>
      Effect.flatMap(
        probe.checkup.store.get(probe.key(part)),
        (found) => equalBytes(found.body, body) ? Effect.succeed(found.tag) : Effect.fail(error)
      )
  ))
}

/** Answers whether anybody is there. */
const checkList = Effect.fnUntraced(function*({ checkup }: Probe) {
  const { place, prefix, store, tell } = checkup
  const answer = yield* asked(store.list({ prefix, limit: 1 }))
  if (Result.isSuccess(answer)) {
    yield* tell(good("list", `answers in ${humanMillis(answer.success.millis)}`, { millis: answer.success.millis }))
    return true
  }
  yield* tell(refusedRow("list", answer.failure, place))
  return !isUnreachable(answer.failure)
})

const stale = (check: string, found: string): CheckResult => ({
  check,
  status: "failed",
  found,
  means: "the store is not read-after-write consistent: a log on it can lose records that it called durable",
  next: "Use a store that is, or ask it without the cache or the replica that stands in front of it."
})

/** Creates an object and reads it back; answers whether it could be created. */
const checkPutAndGet = Effect.fnUntraced(function*(probe: Probe) {
  const { place, store, tell } = probe.checkup
  const body = encodeText("effect-wal doctor")
  const put = yield* answerOf(create(probe, "doctor", body))
  if (Result.isFailure(put)) {
    yield* tell(refusedRow("put", put.failure, place))
    yield* tell(skipped("get", "nothing could be stored that could be read"))
    return false
  }
  yield* tell(good("put", `answers in ${humanMillis(put.success.millis)}`, { millis: put.success.millis }))
  const got = yield* asked(store.get(probe.key("doctor")))
  if (Result.isFailure(got)) {
    yield* tell(
      got.failure.reason === "NotFound"
        ? stale("get", "the object that was just stored is not found")
        : refusedRow("get", got.failure, place)
    )
  } else if (equalBytes(got.success.value.body, body)) {
    yield* tell(good("get", "what was just stored is read back", { millis: got.success.millis }))
  } else {
    yield* tell(stale("get", "what is read back is not what was stored"))
  }
  return true
})

/** All keys of the probe below `part`, page by page. */
const listAll = Effect.fnUntraced(function*(probe: Probe, part: string) {
  const found: Array<string> = []
  let page: string | undefined
  do {
    const answer: { readonly objects: ReadonlyArray<{ readonly key: string }>; readonly next?: string } = yield* probe
      .checkup.store.list({ prefix: probe.key(part), limit: pageLimit, ...page === undefined ? {} : { page } })
    for (const { key } of answer.objects) found.push(key)
    page = answer.next
  } while (page !== undefined && found.length <= listedObjects * 2)
  return found
})

const listingRow = (found: ReadonlyArray<string>, wanted: ReadonlyArray<string>): CheckResult => {
  const missing = wanted.filter((key) => !found.includes(key))
  if (missing.length > 0) {
    return stale("listing", `${missing.length} of ${wanted.length} objects that were just stored are not listed`)
  }
  const isOrdered = found.every((key, index) => index === 0 || (found[index - 1] ?? "") < key)
  return isOrdered
    ? good("listing", `complete, in order, in pages of ${pageLimit}`)
    : {
      check: "listing",
      status: "warning",
      found: "complete, but not in order or with repeats",
      means: "the log sorts by itself, so nothing is lost; opening takes more requests",
      next: "Nothing, unless opening is too slow."
    }
}

/** Stores objects in mixed order and lists them. */
const checkListing = Effect.fnUntraced(function*(probe: Probe) {
  const { place, tell } = probe.checkup
  const names = Array.from({ length: listedObjects }, (_, index) => `list-${(index * 3) % listedObjects}`)
  const listing = Effect.andThen(
    Effect.forEach(names, (name) => create(probe, name, encodeText(name)), { discard: true }),
    listAll(probe, "list-")
  )
  const answer = yield* Effect.result(listing)
  yield* tell(
    Result.isSuccess(answer)
      ? listingRow(answer.success, names.map(probe.key).toSorted())
      : refusedRow("listing", answer.failure, place)
  )
})

/** The probe that every writer makes at its start. */
const checkConditions = Effect.fnUntraced(function*({ checkup }: Probe) {
  const { options, prefix, store, tell } = checkup
  const check = "conditional writes"
  if (store.proven === true) return yield* tell(good(check, "kept by this program itself"))
  if (options.conditionalWrites === "single_writer") {
    return yield* tell({
      check,
      status: "warning",
      found: "conditional_writes: single_writer, so they are not relied on",
      means: "a second process with the same ids, or a request that lands late, loses data",
      next: "Use a store with conditional writes wherever a second writer can ever run."
    })
  }
  const probed = yield* measured(probeStore({ prefix, backoff })).pipe(
    Effect.provideService(ObjectStore, store),
    Effect.result
  )
  if (Result.isSuccess(probed)) {
    return yield* tell(good(check, `create if absent, replace by ETag, 8 at once: as they must be`))
  }
  const error = probed.failure
  yield* tell({
    check,
    status: "failed",
    found: error._tag === "ConditionalWritesUnsupported" ? `${error.check}: ${error.found}` : error.message,
    means: "the log refuses this store: without conditional writes two writers would lose each other's records",
    next: error._tag === "ConditionalWritesUnsupported"
      ? "Use a store with conditional writes, or a newer version of this one. Where a checksum header was refused, set " +
        "s3.checksums: when_required."
      : "See the checks above, and try again."
  })
})

/** Whether settings of the bucket would harm the log. */
const checkAdvice = Effect.fnUntraced(function*({ checkup }: Probe) {
  const { place, prefix, store, tell } = checkup
  const check = "bucket settings"
  if (place.bucket === undefined) return
  const answer = yield* asked(store.advice(prefix))
  if (Result.isFailure(answer)) {
    return yield* tell({
      check,
      status: "warning",
      found: answer.failure.answer,
      means: "life-cycle rules and versioning of the bucket are not known",
      next: `Look there that no life-cycle rule covers ${prefix}.`
    })
  }
  const warnings = answer.success.value
  if (warnings.length === 0) {
    return yield* tell(good(check, "no life-cycle rule over the prefix and no versioning, as far as they can be read"))
  }
  yield* Effect.forEach(warnings, (found) =>
    tell({
      check,
      status: "warning",
      found,
      means: found.includes("versioned")
        ? "deleting what was committed frees no storage"
        : "nobody but the log may delete or move its objects: records would be lost",
      next: found.includes("versioned")
        ? "Switch versioning off, or add a rule that deletes old versions only."
        : `Take ${prefix} out of the rule.`
    }), { discard: true })
})

/** Removes what was written; says what stays. */
const checkRemove = Effect.fnUntraced(function*({ checkup, keys }: Probe) {
  const { options, place, store, tell } = checkup
  const removed = yield* asked(removeObjects(store, [...keys]))
  // What could not be removed is told of here, and not tried again.
  keys.clear()
  if (Result.isSuccess(removed) && removed.success.value.length === 0) {
    return yield* tell(good("delete", "what the checks have stored is removed"))
  }
  const row = Result.isFailure(removed)
    ? refusedRow("delete", removed.failure, place)
    : {
      check: "delete",
      found: removed.success.value.map(({ code, key }) => `${key}: ${code}`).join("; "),
      means: "nothing is ever deleted: storage grows, and is paid for",
      next: place.bucket === undefined
        ? "Give this user the right to delete there."
        : `Allow s3:DeleteObject on arn:aws:s3:::${place.bucket}/${place.prefix}*, and remove what is left.`
    }
  yield* tell({ ...row, status: options.retention.policy === "keep" ? "warning" : "failed" })
})

const afterPut = ["listing", "conditional writes", "times", "delete"] as const

/** Runs all of them, one after the other. */
export const storeChecks = Effect.fnUntraced(function*(checkup: StoreCheckup) {
  const nonce = yield* yield* NonceSource
  const probe: Probe = {
    checkup,
    keys: new Set(),
    key: (part) => probeKey(checkup.prefix, nonce, part)
  }
  const checks = Effect.gen(function*() {
    if (!(yield* checkList(probe))) {
      return yield* Effect.forEach(
        ["put", "get", ...afterPut, "bucket settings"],
        (check) => checkup.tell(skipped(check, "the store cannot be used")),
        { discard: true }
      )
    }
    if (!(yield* checkPutAndGet(probe))) {
      yield* Effect.forEach(afterPut, (check) => checkup.tell(skipped(check, "nothing can be stored")), {
        discard: true
      })
      return yield* checkAdvice(probe)
    }
    yield* checkListing(probe)
    yield* checkConditions(probe)
    yield* timeChecks({ ...checkup, write: (part, body) => write(probe, part, body), key: probe.key })
    yield* checkAdvice(probe)
    yield* checkRemove(probe)
  })
  // What checks have left that came to no removal: after an interruption, or where a write that failed was done after all.
  const leave = Effect.suspend(() => Effect.ignore(removeObjects(checkup.store, [...probe.keys])))
  yield* Effect.ensuring(checks, leave)
})
