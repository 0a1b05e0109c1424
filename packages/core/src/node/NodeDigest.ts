/**
 * The digests of the format from the runtime: CRC-32 of `node:zlib`, SHA-256 of `node:crypto`.
 */
import { hash } from "node:crypto"
import { crc32 } from "node:zlib"
import type { DigestService } from "../codec/Digest.ts"

/** Both run synchronously on the caller's thread: about 1 ms for 1 MiB each. */
export const nodeDigest: DigestService = {
  crc32: (bytes, seed = 0) => crc32(bytes, seed),
  // In one call: a hash object that is fed piece by piece costs more than hashing the few bytes that come here.
  sha256: (parts) => new Uint8Array(hash("sha256", Buffer.concat(parts), "buffer"))
}
