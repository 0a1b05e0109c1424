/**
 * The digests of the format from the runtime: CRC-32 of `node:zlib`, SHA-256 of `node:crypto`.
 */
import { createHash } from "node:crypto"
import { crc32 } from "node:zlib"
import type { DigestService } from "../codec/Digest.ts"

/** Both run synchronously on the caller's thread: about 1 ms for 1 MiB each. */
export const nodeDigest: DigestService = {
  crc32: (bytes, seed = 0) => crc32(bytes, seed),
  sha256: (parts) => {
    const hash = createHash("sha256")
    for (const part of parts) hash.update(part)
    return new Uint8Array(hash.digest())
  }
}
