/**
 * Compression of segment bodies: which codecs there are, and the service that runs them off the event loop.
 *
 * The codec of a body is read from the object's own header, never from the configuration.
 */
import { Context, Effect, Schema } from "effect"

/** The codecs of the format. `none` is stored as it is. */
export const CodecName = Schema.Literals(["none", "zstd", "lz4"])
export type CodecName = typeof CodecName.Type

/** What a body is packed with; `level` is checked against the codec's range before it gets here. */
export interface CompressionSetting {
  readonly type: CodecName
  /** zstd 0–22, lz4 1–16 (accepted, changes nothing: the library has one level). Absent for `none`. */
  readonly level?: number
}

/** The stored bytes are not what the codec writes, or do not unpack to the length that the header names. */
export class CodecError extends Schema.TaggedError<CodecError>()("CodecError", {
  codec: CodecName,
  reason: Schema.String
}) {
  override get message(): string {
    return `${this.codec}: ${this.reason}`
  }
}

/** The codecs of segment bodies. */
export interface CompressionService {
  /**
   * Packs `body`. Neither blocks the event loop for more than a few milliseconds. The answer can be a view of a larger
   * buffer: who keeps it for long copies it. A failure is a defect of the machine.
   */
  readonly compress: (body: Uint8Array, setting: CompressionSetting) => Effect.Effect<Uint8Array, CodecError>
  /**
   * Unpacks `stored` to exactly `rawBytes` bytes. `rawBytes` was checked against the configured maximum by the caller;
   * nothing larger is ever allocated, whatever the data claims. `CodecError` when the data is damaged, shorter or longer.
   */
  readonly decompress: (
    stored: Uint8Array,
    codec: Exclude<CodecName, "none">,
    rawBytes: number
  ) => Effect.Effect<Uint8Array, CodecError>
}

/** Yields the codecs in use: `const compression = yield* yield* Compression`. */
export const Compression = Context.Reference<Effect.Effect<CompressionService>>("@effect-wal/core/Compression", {
  defaultValue: () =>
    Effect.promise(() => import("../node/NodeCompression.ts").then((module) => module.nodeCompression))
})
