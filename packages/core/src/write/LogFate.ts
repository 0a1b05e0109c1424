/**
 * The one closed result of a log: every service reads it, the first to end it decides, everybody who waits gets it.
 *
 * Owns: whether the log is open and why it is not. Does not own: what is stopped because of it.
 */
import { Deferred, Effect, Exit } from "effect"
import type { WalEnd } from "../WalError.ts"
import type { WalState } from "../WalService.ts"

export class LogFate {
  private deferred = Deferred.makeUnsafe<never, WalEnd>()
  private error: WalEnd | undefined = undefined
  private announced: WalEnd | undefined = undefined
  private closingNow = false
  private readonly listeners: Array<(error: WalEnd) => void> = []

  /** Why the log is over; `undefined` while it is not. */
  get ended(): WalEnd | undefined {
    return this.error
  }

  /** Why nothing new is taken: the log is over, or will be once what is under way is answered. */
  get refusal(): WalEnd | undefined {
    return this.error ?? this.announced
  }

  /** The log will end with this error; what is under way is still answered. */
  announce(error: WalEnd): void {
    this.announced ??= error
  }

  /** Appends are refused: the log is over, or on its way. */
  get refusesAppends(): boolean {
    return this.closingNow || this.error !== undefined
  }

  get state(): WalState {
    const refusal = this.refusal
    if (refusal === undefined) return this.closingNow ? "closing" : "open"
    if (refusal._tag === "WalClosed") return "closed"
    return refusal._tag === "WriterFenced" ? "fenced" : "failed"
  }

  /** The log takes nothing more, but goes on storing. False where it did already or is over. */
  beginClosing(): boolean {
    if (this.refusesAppends) return false
    this.closingNow = true
    return true
  }

  /** Ends the log; the first call decides and answers true. */
  end(error: WalEnd): boolean {
    if (this.error !== undefined) return false
    this.error = error
    for (const listener of this.listeners) listener(error)
    Deferred.doneUnsafe(this.deferred, Exit.fail(error))
    return true
  }

  /** Calls back once when the log ends, before anybody who waits is told. */
  onEnd(listener: (error: WalEnd) => void): void {
    if (this.error === undefined) this.listeners.push(listener)
    else listener(this.error)
  }

  /** Never succeeds; fails when the log ends. */
  get awaitEnd(): Effect.Effect<never, WalEnd> {
    return Deferred.await(this.deferred)
  }

  /** Fails at once when the log is over. */
  get check(): Effect.Effect<void, WalEnd> {
    return Effect.suspend(() => this.error === undefined ? Effect.void : Effect.fail(this.error))
  }
}
