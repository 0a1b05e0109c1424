/**
 * Which cursors a log must have, and must not have: a cursor that was made or removed is so in the store once the call is
 * done, and the next opening finds it so.
 *
 * A call without an answer can have been done or not, so a new call in the other direction ends what is known.
 */
import type { WalStatus } from "@effect-wal/core/WalService"
import type { Violations } from "./Violations.ts"

/** Tells that the call was answered with success. */
export type Answered = () => void

const increase = (counts: Map<string, number>, name: string): void => {
  counts.set(name, (counts.get(name) ?? 0) + 1)
}

export class CursorSets {
  private readonly violations: Violations
  /** Calls that were begun. */
  private readonly uses = new Map<string, number>()
  private readonly removals = new Map<string, number>()
  private readonly there = new Set<string>()
  private readonly gone = new Set<string>()

  constructor(violations: Violations) {
    this.violations = violations
  }

  /** Somebody is about to use a cursor; the answer is told only where that has made it. */
  use(name: string): Answered {
    increase(this.uses, name)
    this.gone.delete(name)
    const removals = this.removals.get(name)
    return () => {
      if (this.removals.get(name) === removals) this.there.add(name)
    }
  }

  /** Somebody is about to remove a cursor. */
  remove(name: string): Answered {
    increase(this.removals, name)
    this.there.delete(name)
    const uses = this.uses.get(name)
    return () => {
      if (this.uses.get(name) === uses) this.gone.add(name)
    }
  }

  /** What an opening has found. */
  found(cursors: WalStatus["cursors"]): void {
    for (const name of this.there) {
      this.violations.unless(name in cursors, () => `P3: cursor ${name} was made, and is not there after an opening`)
    }
    for (const name of this.gone) {
      this.violations.unless(!(name in cursors), () => `P3: cursor ${name} was removed, and is back after an opening`)
    }
  }
}
