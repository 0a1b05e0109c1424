/**
 * Watches what one process asks of its store: how many segments it fetches side by side, and that what it sends under one
 * key never changes.
 */
import type { ObjectStore } from "@effect-wal/core/store/ObjectStore"
import { Effect } from "effect"
import type { Violations } from "./Violations.ts"

/** The kind of an object below `segments/`, after magic and version; end markers have another. */
const kindOffset = 10
const segmentKind = 1

export class StoreMeter {
  private readonly violations: Violations
  /** As they were when they were sent first. No checksum: one of a header with its own checksum is that of any other. */
  private readonly sent = new Map<string, Buffer>()
  private underWay = 0
  private most = 0
  /** Reads of objects so far. */
  gets = 0

  constructor(violations: Violations) {
    this.violations = violations
  }

  /** The most reads that were under way at one time since this was asked last. */
  takeMostGets(): number {
    const { most } = this
    this.most = this.underWay
    return most
  }

  watch(store: ObjectStore["Service"]): ObjectStore["Service"] {
    return {
      ...store,
      get: (key, options) =>
        Effect.suspend(() => {
          this.gets++
          this.underWay++
          this.most = Math.max(this.most, this.underWay)
          return Effect.ensuring(
            store.get(key, options),
            Effect.sync(() => {
              this.underWay--
            })
          )
        }),
      create: (key, body, options) =>
        Effect.suspend(() => {
          if (key.endsWith(".seg") && body[kindOffset] === segmentKind) this.sends(key, body)
          return store.create(key, body, options)
        })
    }
  }

  private sends(key: string, body: Uint8Array): void {
    const before = this.sent.get(key)
    if (before === undefined) this.sent.set(key, Buffer.from(body))
    else this.violations.unless(before.equals(body), () => `P1: ${key} was sent again with other bytes`)
  }
}
