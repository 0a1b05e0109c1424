/**
 * The codecs on Node: zstd by `node:zlib` and, for small bodies, by `zstd-napi`; lz4 frames by `lz4-napi`.
 *
 * Which zstd: both write the same frames, so it is a matter of speed only, chosen by size on each call. `zstd-napi` is
 * synchronous. It is used where one call stays well below a millisecond, because there the way through the thread pool
 * costs several times the work (10 KiB of JSON lines, level 3: 0.06 ms against 0.47 ms). From some 100 KiB up both are
 * equally fast and `node:zlib` does not occupy the event loop, so it does everything else, and everything where the
 * optional addon is missing.
 *
 * What is unpacked is checked first: one whole frame, nothing after it, and exactly the length that the caller expects.
 * Only then is a decoder asked, so none allocates more than that because the data claims it.
 */
import { Effect } from "effect"
import { compressFrame, decompressFrame } from "lz4-napi"
import { zstdDecompress } from "node:zlib"
import type { CodecName, CompressionService, CompressionSetting } from "../codec/Compression.ts"
import { CodecError } from "../codec/Compression.ts"
import { measureLz4Block, readLz4Frame } from "../codec/Lz4Frame.ts"
import { zstdFrameProblem } from "../codec/ZstdFrame.ts"
import { ZstdEncoder } from "./ZstdEncoder.ts"

/** The two functions of `zstd-napi` that are used; synchronous, they throw. */
export interface SyncZstd {
  /** One whole frame. */
  readonly compress: (body: Uint8Array, parameters: { readonly compressionLevel: number }) => Uint8Array
  /** What a frame holds; throws where it is damaged. */
  readonly decompress: (stored: Uint8Array) => Uint8Array
}

/** Largest body that is packed synchronously, in bytes: below 0.5 ms up to `syncMaxLevel`. */
export const syncCompressMaxBytes = 64 * 1024
/** Highest zstd level that is run synchronously: the next ones take several times as long. */
export const syncMaxLevel = 6
/** Largest body that is unpacked synchronously, in bytes: about 0.3 ms. */
export const syncDecompressMaxBytes = 256 * 1024

type Packed = Exclude<CodecName, "none">

const levels: Readonly<Record<Packed, { readonly min: number; readonly max: number; readonly default: number }>> = {
  zstd: { min: 0, max: 22, default: 3 },
  lz4: { min: 1, max: 16, default: 4 }
}

/** Bytes of lz4 that are measured at a stretch before other fibers get their turn: about 2 ms. */
const measureSliceBytes = 1 << 20

const fromCause = (codec: Packed) => (cause: unknown): CodecError =>
  new CodecError({ codec, reason: cause instanceof Error ? cause.message : String(cause) })

/** A plain view; copied when the codec's buffer is much larger than what it holds, so that it does not pin memory. */
const compact = (bytes: Uint8Array): Uint8Array =>
  bytes.buffer.byteLength > bytes.byteLength + (bytes.byteLength >>> 3) + 64
    ? new Uint8Array(bytes)
    : new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength)

type Done = (error: Error | null, result: Uint8Array) => void

const zlib = (run: (done: Done) => void): Effect.Effect<Uint8Array, CodecError> =>
  Effect.callback((resume) =>
    run((error, result) => resume(error === null ? Effect.succeed(result) : Effect.fail(fromCause("zstd")(error))))
  )

const levelOf = (codec: Packed, level: number | undefined): Effect.Effect<number, CodecError> => {
  const range = levels[codec]
  const value = level ?? range.default
  // The bindings clamp a level out of range, or cut it to an integer, without a word.
  return Number.isInteger(value) && value >= range.min && value <= range.max
    ? Effect.succeed(value)
    : Effect.fail(
      new CodecError({ codec, reason: `level ${value} is not an integer from ${range.min} to ${range.max}` })
    )
}

/** What packs zstd: small bodies at once where the addon is there, all others in the thread pool. */
interface Packers {
  readonly sync: SyncZstd | undefined
  readonly encoder: ZstdEncoder
}

const compressZstd = (body: Uint8Array, level: number, { encoder, sync }: Packers) =>
  sync !== undefined && body.length <= syncCompressMaxBytes && level <= syncMaxLevel
    ? Effect.try({ try: () => sync.compress(body, { compressionLevel: level }), catch: fromCause("zstd") })
    : Effect.mapError(encoder.compress(body, level), fromCause("zstd"))

const decompressZstd = (stored: Uint8Array, rawBytes: number, sync: SyncZstd | undefined) => {
  const problem = zstdFrameProblem(stored, rawBytes)
  if (problem !== undefined) return Effect.fail(new CodecError({ codec: "zstd", reason: problem }))
  return sync !== undefined && rawBytes <= syncDecompressMaxBytes
    ? Effect.try({ try: () => sync.decompress(stored), catch: fromCause("zstd") })
    : zlib((done) =>
      zstdDecompress(stored, { maxOutputLength: rawBytes + 1, chunkSize: Math.max(64, rawBytes + 1) }, done)
    )
}

const decompressLz4 = Effect.fnUntraced(function*(stored: Uint8Array, rawBytes: number) {
  const frame = readLz4Frame(stored, rawBytes)
  if ("problem" in frame) return yield* new CodecError({ codec: "lz4", reason: frame.problem })
  let total = 0
  let slice = 0
  for (const block of frame.blocks) {
    const length = measureLz4Block(stored, block)
    if (length === undefined) return yield* new CodecError({ codec: "lz4", reason: "has a block that does not decode" })
    total += length
    if (total > rawBytes) {
      return yield* new CodecError({ codec: "lz4", reason: `unpacks to at least ${total} bytes, expected ${rawBytes}` })
    }
    slice += block.packed ? block.end - block.start : 0
    if (slice >= measureSliceBytes) {
      slice = 0
      yield* Effect.yieldNow
    }
  }
  if (total !== rawBytes) {
    return yield* new CodecError({ codec: "lz4", reason: `unpacks to ${total} bytes, expected ${rawBytes}` })
  }
  return yield* Effect.tryPromise({ try: () => decompressFrame(stored), catch: fromCause("lz4") })
})

const compress = Effect.fnUntraced(
  function*(body: Uint8Array, setting: CompressionSetting, packers: Packers) {
    if (setting.type === "none") return body
    const level = yield* levelOf(setting.type, setting.level)
    return setting.type === "zstd"
      ? yield* compressZstd(body, level, packers)
      : yield* Effect.tryPromise({ try: () => compressFrame(body), catch: fromCause("lz4") })
  }
)

const decompress = Effect.fnUntraced(
  function*(stored: Uint8Array, codec: Packed, rawBytes: number, sync: SyncZstd | undefined) {
    const raw = codec === "zstd"
      ? yield* decompressZstd(stored, rawBytes, sync)
      : yield* decompressLz4(stored, rawBytes)
    if (raw.length !== rawBytes) {
      return yield* new CodecError({ codec, reason: `unpacks to ${raw.length} bytes, expected ${rawBytes}` })
    }
    return compact(raw)
  }
)

/** The codecs of Node, with `zstd-napi` for small bodies where `sync` is given. A level out of range is a `CodecError`. */
export const make = (sync: SyncZstd | undefined): CompressionService => {
  const packers: Packers = { sync, encoder: new ZstdEncoder() }
  return {
    compress: (body, setting) => compress(body, setting, packers),
    decompress: (stored, codec, rawBytes) => decompress(stored, codec, rawBytes, sync)
  }
}

/** `zstd-napi`, or why it could not be loaded (an optional dependency: that is no error, only slower for small bodies). */
export const syncZstd: { readonly addon?: SyncZstd; readonly absent?: string } = await import("zstd-napi").then(
  (addon) => ({ addon }),
  (cause: unknown) => ({ absent: String(cause) })
)

/** The codecs of this process. */
export const nodeCompression: CompressionService = make(syncZstd.addon)
