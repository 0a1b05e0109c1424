/**
 * Collects the pieces of a body while they come. A client chooses how large they are, down to one byte; each takes some
 * hundred bytes of the heap beside its own, so small ones must not be kept in any number.
 */
import type { Body } from "./Body.ts"

/** A piece of this size takes a quarter beside its bytes at most. What one packet of a network brings is larger. */
const largeBytes = 1_024

/** So many small pieces are kept as they come: most bodies have no more, and are never copied. */
const smallPiecesMax = 16

/** Most of a buffer that small pieces are copied into. */
const bufferMaxBytes = 16_384

const noBuffer = new Uint8Array(0)

/** The pieces of one body so far. */
export class Pieces {
  private pieces: Array<Uint8Array> = []
  private smallPieces = 0
  private buffer = noBuffer
  /** Where the part of the buffer that is no piece yet starts and ends. */
  private start = 0
  private end = 0
  private bytes = 0

  /** All bytes so far. */
  get length(): number {
    return this.bytes
  }

  /** Adds a piece, as it is or copied. */
  add(piece: Uint8Array): void {
    this.bytes += piece.length
    if (piece.length < largeBytes && ++this.smallPieces > smallPiecesMax) return this.copy(piece)
    this.endCopied()
    this.pieces.push(piece)
  }

  /** All of them, in order. */
  body(): Body {
    this.endCopied()
    return this.pieces
  }

  /** Lets them go. */
  clear(): void {
    this.pieces = []
    this.buffer = noBuffer
    this.start = this.end = 0
  }

  private copy(piece: Uint8Array): void {
    for (let copied = 0; copied < piece.length;) {
      if (this.end === this.buffer.length) this.beginBuffer()
      const part = piece.subarray(copied, copied + this.buffer.length - this.end)
      this.buffer.set(part, this.end)
      this.end += part.length
      copied += part.length
    }
  }

  /** No larger than what has come so far, so that what is empty of it is never more than that. */
  private beginBuffer(): void {
    this.endCopied()
    this.buffer = new Uint8Array(Math.min(bufferMaxBytes, this.bytes))
    this.start = this.end = 0
  }

  /** What follows goes on behind it in the same buffer: one that is nearly empty must not stay for each large piece. */
  private endCopied(): void {
    if (this.start < this.end) this.pieces.push(this.buffer.subarray(this.start, this.end))
    this.start = this.end
  }
}
