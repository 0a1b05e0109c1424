/**
 * Hands a packed body on to the stream that unpacks it, in pieces that are worth a call each: a client can send it byte by
 * byte, and each call that waits takes some hundred bytes of the heap.
 *
 * Not `pipe`: that stops the source while the other side is busy, and what has come by then stays there as it came. Here it
 * is put together, on the account of the request until it is handed on.
 */
import type { Writable } from "node:stream"
import type { Body } from "./Body.ts"
import type { Hold } from "./Hold.ts"
import { Pieces } from "./Pieces.ts"

const noPieces: Body = []

/** One body on its way. */
export class Feed {
  private readonly target: Writable
  private readonly hold: Hold
  /** What has come since pieces were handed on for the last time. */
  private arrived = new Pieces()
  private leaving: Iterator<Uint8Array> = noPieces.values()
  private isBusy = false
  private hasEnded = false

  constructor(target: Writable, hold: Hold) {
    this.target = target
    this.hold = hold
  }

  /** Adds what has come. */
  add(piece: Uint8Array): void {
    this.hold.take(piece.length)
    this.arrived.add(piece)
    if (!this.isBusy) this.handOn()
  }

  /** Nothing more comes. */
  end(): void {
    this.hasEnded = true
    if (!this.isBusy) this.handOn()
  }

  private handOn(): void {
    const piece = this.next()
    this.isBusy = piece !== undefined
    if (piece === undefined) {
      if (this.hasEnded) this.target.end()
      return
    }
    // From here on it counts as what becomes of it: the two together are never more than the larger of them.
    this.hold.take(-piece.length)
    this.target.write(piece, (error) => {
      // One that was destroyed meanwhile calls back without an error, when the account of the request is closed.
      if (!this.target.destroyed && (error === null || error === undefined)) this.handOn()
    })
  }

  private next(): Uint8Array | undefined {
    const first = this.leaving.next()
    if (first.done !== true) return first.value
    this.leaving = this.arrived.body().values()
    this.arrived = new Pieces()
    const next = this.leaving.next()
    return next.done === true ? undefined : next.value
  }
}
