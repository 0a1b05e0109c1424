/**
 * Packing without a thread pool: what it gives is there at once, so that a simulation stays in one thread and one order.
 * The frames are those of every other codec; lz4 is left out, its library has no use here.
 */
import { CodecError, type CompressionService } from "@effect-wal/core/codec/Compression"
import { zstdFrameProblem } from "@effect-wal/core/codec/ZstdFrame"
import { Effect } from "effect"
import { constants, zstdCompressSync, zstdDecompressSync } from "node:zlib"

const failure = (codec: "zstd" | "lz4", reason: string) => new CodecError({ codec, reason })

/** Plain bytes: a `Buffer` would be a view of a shared pool. */
const plain = (bytes: Uint8Array): Uint8Array => new Uint8Array(bytes)

export const syncCompression: CompressionService = {
  compress: (body, { level, type }) => {
    if (type === "none") return Effect.succeed(body)
    if (type === "lz4") return Effect.fail(failure(type, "not in a simulation"))
    return Effect.sync(() =>
      plain(zstdCompressSync(body, { params: { [constants.ZSTD_c_compressionLevel]: level ?? 3 } }))
    )
  },
  decompress: (stored, codec, rawBytes) => {
    if (codec === "lz4") return Effect.fail(failure(codec, "not in a simulation"))
    const problem = zstdFrameProblem(stored, rawBytes)
    if (problem !== undefined) return Effect.fail(failure(codec, problem))
    return Effect.try({
      try: () => plain(zstdDecompressSync(stored, { maxOutputLength: rawBytes + 1 })),
      catch: (cause) => failure(codec, String(cause))
    }).pipe(
      Effect.filterOrFail(
        (raw) => raw.length === rawBytes,
        (raw) => failure(codec, `unpacks to ${raw.length} bytes, expected ${rawBytes}`)
      )
    )
  }
}
