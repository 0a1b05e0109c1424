/** Archives of ends that stand in no store: what a manifest leads to. */
import { ObjectStore, type StoredObject } from "@effect-wal/core/store/ObjectStore"
import type { ObjectStoreError } from "@effect-wal/core/store/ObjectStoreError"
import { Duration, Effect } from "effect"
import { allEnds } from "../../src/epoch/EndsArchive.ts"
import type { Manifest } from "../../src/format/ManifestCodec.ts"
import { nodeDigest } from "../../src/node/NodeDigest.ts"

const none = Effect.die(new Error("only read"))

/** All ends of a manifest, where `get` gives the archives by their keys. */
export const endsOf = (
  manifest: Manifest,
  get: (key: string) => Effect.Effect<StoredObject, ObjectStoreError>
) =>
  allEnds(
    { prefix: "", digest: nodeDigest, backoff: { base: Duration.zero, cap: Duration.zero }, attempts: 1 },
    manifest
  ).pipe(
    Effect.provideService(ObjectStore, {
      id: "archives",
      get,
      create: () => none,
      replace: () => none,
      list: () => none,
      remove: () => none,
      advice: () => none
    })
  )
