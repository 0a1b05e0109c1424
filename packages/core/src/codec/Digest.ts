/**
 * The two digests of the format, as synchronous functions on bytes.
 *
 * A reference, so that a program without `node:` modules can bring its own; the default is the runtime's own zlib and
 * crypto, loaded on first use.
 */
import { Context, Effect } from "effect"

/** The checksums and hashes of the format. */
export interface DigestService {
  /** CRC-32 (IEEE 802.3, as zlib's) of the bytes, continued from `seed`; unsigned. */
  readonly crc32: (bytes: Uint8Array, seed?: number) => number
  /** SHA-256 of the concatenated parts; 32 bytes. */
  readonly sha256: (parts: ReadonlyArray<Uint8Array>) => Uint8Array
}

/** Yields the digests in use: `const digest = yield* yield* Digest`. */
export const Digest = Context.Reference<Effect.Effect<DigestService>>("@effect-wal/core/Digest", {
  defaultValue: () => Effect.promise(() => import("../node/NodeDigest.ts").then((module) => module.nodeDigest))
})
