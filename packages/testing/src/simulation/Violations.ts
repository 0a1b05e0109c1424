/** What a walk found broken. The first one counts: what comes after it may only follow from it. */
import type { Trace } from "./Trace.ts"

export class Violations {
  readonly found: Array<string> = []
  private readonly trace: Trace

  constructor(trace: Trace) {
    this.trace = trace
  }

  add(what: string): void {
    this.found.push(what)
    this.trace.add(`VIOLATION ${what}`)
  }

  /** Adds it where the condition does not hold. */
  unless(holds: boolean, what: () => string): void {
    if (!holds) this.add(what())
  }
}
