/**
 * When a segment may be sent at all, seen from the store.
 *
 * Checked at the first time that a slot is stored: a stored manifest has called its epoch the live one before · every slot
 * more than one window below it was stored before.
 */
import type { Manifest } from "@effect-wal/core/format/ManifestCodec"
import type { Violations } from "./Violations.ts"

export class SendOrder {
  private readonly violations: Violations
  /** The window of each epoch that was live, and the slot below which all slots were stored. */
  private readonly epochs = new Map<number, { readonly window: number; next: number; readonly above: Set<number> }>()
  /** Of older epochs nothing is known: the walk found them there. */
  private firstLive: number | undefined = undefined

  constructor(violations: Violations) {
    this.violations = violations
  }

  manifestWritten({ live, live_window: window }: Manifest): void {
    this.firstLive ??= live
    if (live !== 0 && !this.epochs.has(live)) this.epochs.set(live, { window, next: 0, above: new Set() })
  }

  /** The first slot of an epoch that was never stored; `undefined` for an epoch that was not live in this walk. */
  firstMissing(epoch: number): number | undefined {
    return this.epochs.get(epoch)?.next
  }

  /** A slot is stored that was not before. */
  segmentWritten({ epoch, slot }: { readonly epoch: number; readonly slot: number }): void {
    const known = this.epochs.get(epoch)
    if (known === undefined) {
      const isOlder = this.firstLive !== undefined && epoch < this.firstLive
      this.violations.unless(isOlder, () => `slot ${slot} of epoch ${epoch} was sent before the epoch was activated`)
      return
    }
    this.violations.unless(
      slot < known.next + known.window,
      () => `slot ${slot} of epoch ${epoch} was sent before slot ${known.next}, its window is ${known.window}`
    )
    known.above.add(slot)
    while (known.above.delete(known.next)) known.next++
  }
}
