/**
 * zstd frames by `node:zlib`, in the thread pool, with little fresh memory.
 *
 * Why not `zstdCompress`: it copies what was written once more into memory of its own, as the encoder writes twice, and it
 * takes as much memory as the frame could need at worst. Memory that is fresh costs more than most of what is done with it,
 * and much of it makes the garbage collector hold up the event loop.
 */
import { Effect } from "effect"
import { constants, createZstdCompress } from "node:zlib"

/** One view of chunks that lie one behind the other in one buffer; else a copy. */
const joined = (chunks: ReadonlyArray<Uint8Array>): Uint8Array => {
  const [first] = chunks
  if (first === undefined) return new Uint8Array(0)
  let end = first.byteOffset
  for (const { buffer, byteLength, byteOffset } of chunks) {
    if (buffer !== first.buffer || byteOffset !== end) return Buffer.concat(chunks)
    end += byteLength
  }
  return new Uint8Array(first.buffer, first.byteOffset, end - first.byteOffset)
}

/** The largest frame that a body can become: ZSTD_COMPRESSBOUND, with the length of small ones. */
const boundOf = (bytes: number): number => bytes + (bytes >>> 8) + 128

/** So much more than expected is there room for. */
const margin = 1.125
/** What is expected falls to this share of what it was at most, from body to body: where kinds alternate, the larger counts. */
const fall = 0.9

export class ZstdEncoder {
  /** Bytes of a frame for each of its body, as the last ones were. */
  private expected = 1

  /** Packs the body to one frame. Fails with what the library says. */
  compress(body: Uint8Array, level: number): Effect.Effect<Uint8Array, Error> {
    return Effect.callback((resume) => {
      const chunks: Array<Uint8Array> = []
      const stream = createZstdCompress({
        params: { [constants.ZSTD_c_compressionLevel]: level },
        pledgedSrcSize: body.length,
        // A frame that is larger gets further chunks.
        chunkSize: Math.min(boundOf(body.length), Math.ceil(margin * this.expected * body.length) + 1_024)
      })
      stream.on("data", (chunk: Uint8Array) => chunks.push(chunk))
      stream.once("error", (error) => resume(Effect.fail(error)))
      stream.once("end", () => {
        const frame = joined(chunks)
        if (body.length > 0) this.expected = Math.max(frame.length / body.length, fall * this.expected)
        resume(Effect.succeed(frame))
      })
      stream.end(body)
      return Effect.sync(() => {
        stream.destroy()
      })
    })
  }
}
