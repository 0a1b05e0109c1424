/** The codecs with nothing around them: what the log's compression cannot beat. */
import type { CompressionSetting } from "@effect-wal/core/codec/Compression"
import { createRequire } from "node:module"
import { promisify } from "node:util"
import { constants, zstdCompress, type ZstdOptions } from "node:zlib"

/** What is used of the addon, which is a dependency of the core: it is the very same one. */
interface Lz4Addon {
  readonly compressFrame: (body: Uint8Array) => Promise<Uint8Array>
}

const lz4: Lz4Addon = createRequire(import.meta.resolve("@effect-wal/core/node/NodeCompression"))("lz4-napi")

const zstd = promisify<Uint8Array, ZstdOptions, Uint8Array>(zstdCompress)

/** Packs a body in the thread pool of the runtime; the output is one chunk, as the log asks for it. */
export const bareCodec = ({ level, type }: CompressionSetting): (body: Uint8Array) => Promise<Uint8Array> => {
  if (type === "lz4") return (body) => lz4.compressFrame(body)
  const params = { [constants.ZSTD_c_compressionLevel]: level ?? 3 }
  return (body) =>
    zstd(body, { params, pledgedSrcSize: body.length, chunkSize: body.length + (body.length >>> 8) + 128 })
}
