/** The store as a process of the simulation sees it: every operation goes over the network. */
import type {
  ListPage,
  ListRequest,
  ObjectStore,
  RemoveFailure,
  StoredObject
} from "@effect-wal/core/store/ObjectStore"
import type { ObjectStoreError, Operation } from "@effect-wal/core/store/ObjectStoreError"
import { Effect } from "effect"
import type { Bucket, Outcome } from "./Bucket.ts"
import { errorOf, type Network } from "./Network.ts"
import type { SeededRandom } from "./SeededRandom.ts"
import type { SimProcess } from "./SimProcess.ts"

export interface SimStoreParts {
  readonly process: SimProcess
  readonly bucket: Bucket
  readonly network: Network
  readonly random: SeededRandom
  /** A client gives up after this, milliseconds. */
  readonly deadlineMillis: number
}

const mostKeys = 1_000

/** What a proxy answers in place of the store. */
const proxyPage = new TextEncoder().encode("<html><body>503 upstream</body></html>")

interface Asked<A> {
  readonly operation: Operation
  readonly key: string
  readonly isWrite: boolean
  readonly apply: () => Outcome<A>
  readonly onAbandoned?: () => void
  readonly foreign?: () => A
}

const request = <A>(parts: SimStoreParts, asked: Asked<A>): Effect.Effect<A, ObjectStoreError> =>
  Effect.callback((resume) =>
    parts.network.send<A>({
      onAbandoned: () => undefined,
      ...asked,
      process: parts.process,
      deadlineMillis: parts.deadlineMillis,
      resume: (answer, retryAfterMillis) =>
        resume(
          "reason" in answer
            ? Effect.fail(errorOf(asked.operation, asked.key, answer.reason, retryAfterMillis))
            : Effect.succeed(answer.value)
        )
    })
  )

/**
 * A write sends the bytes that are there when it reaches the store, so that one which changes them under way is found out;
 * once its client has an answer the bytes may change, and what is still under way was sent before.
 */
const write = <A>(
  parts: SimStoreParts,
  operation: "create" | "replace",
  key: string,
  body: Uint8Array,
  apply: (sent: Uint8Array) => Outcome<A>
): Effect.Effect<A, ObjectStoreError> => {
  let sent: Uint8Array | undefined
  const asSent = Buffer.from(body)
  return request(parts, {
    operation,
    key,
    isWrite: true,
    apply: () => {
      const arriving = sent ?? body.slice()
      // Also where the key is taken, and what arrives is not stored. No checksum: a header with its own has one like any other.
      if (!asSent.equals(arriving)) parts.bucket.changedUnderWay(key)
      return apply(arriving)
    },
    onAbandoned: () => {
      sent ??= body.slice()
    }
  })
}

/** A token leads on from a key; no two tokens are the same, as on S3. */
const tokenOf = (random: SeededRandom, key: string): string => `${random.hex128()} ${key}`
const keyOf = (token: string): string => token.slice(token.indexOf(" ") + 1)

/** A page as the store of this walk makes it: in its order, as long as it likes, and more than once. */
export const pageOf = (
  { bucket, network, random }: Pick<SimStoreParts, "bucket" | "network" | "random">,
  asked: ListRequest
): ListPage => {
  const { emptyPages, isUnordered, pageSize, repeats } = network.listing
  // An unordered store knows no key to start after, and its pages are in an order of its own.
  const start = isUnordered ? "" : asked.startAfter ?? ""
  const after = asked.page === undefined ? start : keyOf(asked.page)
  if (emptyPages && random.chance(0.3)) return { objects: [], next: tokenOf(random, after) }
  const limit = Math.min(asked.limit ?? mostKeys, pageSize)
  const { found, next } = bucket.list({ prefix: asked.prefix, after, limit, isUnordered })
  const [first] = found
  const objects = repeats && first !== undefined && random.chance(0.3) ? [...found, first] : found
  return next === undefined ? { objects } : { objects, next: tokenOf(random, next) }
}

export const makeStore = (parts: SimStoreParts): ObjectStore["Service"] => {
  const { bucket, network } = parts
  return {
    id: "simulated",
    get: (key, { firstBytes } = {}) =>
      request<StoredObject>(parts, {
        operation: "get",
        key,
        isWrite: false,
        apply: () => {
          const found = bucket.get(key)
          if ("reason" in found) return found
          const { body, tag } = found.value
          return { value: { body: body.slice(0, firstBytes), tag } }
        },
        foreign: () => ({ body: proxyPage.slice(0, firstBytes), tag: "\"proxy\"" })
      }),
    create: (key, body) => write(parts, "create", key, body, (sent) => bucket.create(key, sent)),
    replace: (key, body, expected) => write(parts, "replace", key, body, (sent) => bucket.replace(key, sent, expected)),
    list: (asked) =>
      request<ListPage>(parts, {
        operation: "list",
        key: asked.prefix,
        isWrite: false,
        apply: () => ({ value: pageOf(parts, asked) })
      }),
    remove: (keys) =>
      request<ReadonlyArray<RemoveFailure>>(parts, {
        operation: "remove",
        key: keys[0] ?? "",
        isWrite: true,
        apply: () => {
          const failed = keys.filter(() => network.removalFails)
          for (const key of keys) if (!failed.includes(key)) bucket.remove(key)
          return { value: failed.map((key) => ({ key, code: "InternalError" })) }
        }
      }),
    advice: () => Effect.succeed([])
  }
}
