/**
 * A store whose requests are spans of their own, within the span of what they are for: retries and second requests show as
 * what they are. Segments and manifests get their links here, where their bytes pass.
 */
import { Digest, type DigestService } from "@effect-wal/core/codec/Digest"
import { decodeManifest } from "@effect-wal/core/format/ManifestCodec"
import { readHeader } from "@effect-wal/core/format/SegmentCodec"
import type { ObjectStore } from "@effect-wal/core/store/ObjectStore"
import { Effect, type Tracer } from "effect"
import type { TraceLinks } from "./TraceLinks.ts"

type Store = ObjectStore["Service"]

const request = <A, E>(
  name: string,
  attributes: Readonly<Record<string, unknown>>,
  effect: Effect.Effect<A, E>
): Effect.Effect<A, E> =>
  Effect.withSpan(effect, `store.${name}`, { kind: "client", attributes, captureStackTrace: false })

/** Runs `link` with the span that the request is for, where there is one that is recorded. */
const linking = <E>(link: (span: Tracer.Span) => Effect.Effect<void, E>): Effect.Effect<void> =>
  Effect.currentSpan.pipe(
    Effect.flatMap((span) => span.sampled ? link(span) : Effect.void),
    // A span without its links is no reason to fail a write.
    Effect.ignore
  )

const linkSegment = (links: TraceLinks, digest: DigestService, key: string, body: Uint8Array) =>
  linking((span) =>
    Effect.map(readHeader(key, body, digest), ({ header }) => {
      if (header.count === 0) return
      const last = header.firstSeq + header.count - 1
      links.sent(header.logId, { key, first: header.firstSeq, last }, span)
    })
  )

const linkManifest = (links: TraceLinks, key: string, body: Uint8Array) =>
  linking((span) =>
    Effect.map(decodeManifest(key, body), (manifest) => links.covered(manifest.log_id, manifest.checkpoint.seq, span))
  )

/** The store, for a server that traces. */
export const tracedStore = Effect.fnUntraced(function*(store: Store, links: TraceLinks) {
  const digest = yield* yield* Digest
  const traced: Store = {
    ...store,
    get: (key, options) => request("get", { key }, store.get(key, options)),
    create: (key, body, options) =>
      Effect.andThen(
        key.includes("/segments/") ? linkSegment(links, digest, key, body) : Effect.void,
        request("create", { key, bytes: body.length }, store.create(key, body, options))
      ),
    replace: (key, body, expected, options) =>
      Effect.andThen(
        key.endsWith("/manifest.json") ? linkManifest(links, key, body) : Effect.void,
        request("replace", { key, bytes: body.length }, store.replace(key, body, expected, options))
      ),
    list: (options) => request("list", { prefix: options.prefix }, store.list(options)),
    remove: (keys) => request("remove", { objects: keys.length }, store.remove(keys))
  }
  return traced
})
