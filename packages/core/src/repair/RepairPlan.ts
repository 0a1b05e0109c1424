/** What a repair is going to do, as a value: shown to the operator, then done as it stands. */
import type { Boundary } from "../format/Boundary.ts"
import type { Manifest } from "../format/ManifestCodec.ts"
import type { Tag } from "../store/ObjectStore.ts"
import type { Finding } from "../verify/Finding.ts"
import type { DamagedStretch } from "./Evidence.ts"

export type { DamagedStretch } from "./Evidence.ts"

/** One object that is written. None is removed, and only the manifest is replaced. */
export type RepairAction =
  /** Keeps the bytes of an object that is damaged, or is going to be replaced. */
  | { readonly _tag: "Copy"; readonly from: string; readonly to: string; readonly why: string }
  /** Ends an epoch in the store where it ends in the manifest. */
  | {
    readonly _tag: "PutEndMarker"
    readonly key: string
    readonly epoch: number
    readonly slot: number
    readonly why: string
  }
  /** Moves the oldest ends out of a manifest that has no room for them. */
  | { readonly _tag: "PutArchive"; readonly key: string; readonly ends: ReadonlyArray<Boundary>; readonly why: string }
  /** Creates the manifest, or replaces the one with the tag. */
  | {
    readonly _tag: "PutManifest"
    readonly key: string
    readonly replaces: Tag | undefined
    readonly manifest: Manifest
    readonly why: string
  }

/** A fingerprint of what is stored, to see whether it has changed. */
export interface Fingerprint {
  readonly objects: number
  /** Sum of the CRC-32 of key and size of each, modulo 2^32: the order of a listing does not matter. */
  readonly sum: number
}

/** What a repair would write, and why. Nothing is written before it is applied. */
export interface RepairPlan {
  /** Names the copies: `repair/{id}/`. */
  readonly id: string
  readonly logId: string
  /** `{prefix}/{node_id}/{stream_id}/`. */
  readonly prefix: string
  /** Everything that is wrong, at most 1,000 of it. */
  readonly findings: ReadonlyArray<Finding>
  /** What is written, in this order. Empty: there is nothing to repair. */
  readonly actions: ReadonlyArray<RepairAction>
  /** What cannot be read, with the exact numbers that are lost where anything that is left knows them. */
  readonly damaged: ReadonlyArray<DamagedStretch>
  /** What is read afterwards. */
  readonly kept: {
    readonly segments: number
    readonly records: number
    /** Everything at or below it has been deleted. */
    readonly trimmedTo: number
    /** New records get numbers above this one. */
    readonly lastSeq: number
  }
  /** What the operator should know besides. */
  readonly notes: ReadonlyArray<string>
  /** The manifest's tag when this was planned; `undefined`: there was none. */
  readonly manifestTag: Tag | undefined
  /** What was stored when this was planned, without what the plan itself creates. */
  readonly stored: Fingerprint
}
