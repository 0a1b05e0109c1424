/**
 * The processes on one disk in memory, up to its end: counts their calls, refuses and cuts them as planned.
 */
import { DiskError } from "@effect-wal/core/node/DiskFile"
import { Clock, Deferred, Effect, Exit } from "effect"
import type { DiskNode, FileNode } from "./DiskNodes.ts"
import type { DiskTree } from "./DiskTree.ts"
import { Refusal } from "./DiskTree.ts"

/** A call that reached the disk. */
export interface DiskCall {
  readonly name:
    | "create"
    | "write"
    | "writeMany"
    | "sync"
    | "syncData"
    | "truncate"
    | "makeDirectory"
    | "syncDirectory"
    | "link"
    | "rename"
    | "unlink"
    | "removeTree"
    | "lock"
    | "open"
    | "read"
    | "list"
    | "stat"
  /** For `link` the new name, for `rename` the old one. */
  readonly path: string
}

/** Answers the code that the call fails with, before it does anything; `undefined` lets it through. */
export type DiskRule = (call: DiskCall) => string | undefined

interface Work<A> {
  /** Does it, or throws a `Refusal`. */
  readonly apply: (now: number) => A
  /** What a rule that refuses the call leaves behind. */
  readonly onRefused?: () => void
  /** What the call writes to. */
  readonly written?: FileNode
}

const isSync = (call: DiskCall): boolean =>
  call.name === "sync" || call.name === "syncData" || call.name === "syncDirectory"

export class DiskMachine {
  readonly tree: DiskTree
  /** The calls that change something. */
  readonly calls: Array<DiskCall> = []
  readonly rules: Array<DiskRule> = []
  /** Files that a process holds a lock on. */
  readonly locks = new Set<DiskNode>()
  readonly cut = Deferred.makeUnsafe<void>()
  cutNumber = Infinity
  isDead = false
  /** The file that the call that was cut has written to. */
  cutWrite: FileNode | undefined

  constructor(tree: DiskTree) {
    this.tree = tree
  }

  /** A call that changes something. */
  change<A>(call: DiskCall, work: Work<A>): Effect.Effect<A, DiskError> {
    return this.run((now) => {
      this.calls.push(call)
      return this.calls.length === this.cutNumber ? this.die(call, work, now) : this.answer(call, work, now)
    })
  }

  /** A call that changes nothing. */
  look<A>(call: DiskCall, apply: () => A): Effect.Effect<A, DiskError> {
    return this.run((now) => this.answer(call, { apply }, now))
  }

  private die<A>(call: DiskCall, work: Work<A>, now: number) {
    const { written } = work
    const before = written?.changeCount
    // What it answers is for nobody. A sync that was not answered has done nothing for sure.
    const done = isSync(call) ? Effect.void : this.answer(call, work, now)
    this.isDead = true
    if (written?.changeCount !== before) this.cutWrite = written
    return Effect.andThen(Effect.exit(done), Effect.andThen(Deferred.done(this.cut, Exit.void), Effect.never))
  }

  private answer<A>(call: DiskCall, work: Work<A>, now: number): Effect.Effect<A, DiskError> {
    const code = this.rules.map((rule) => rule(call)).find((one) => one !== undefined)
    if (code !== undefined) {
      work.onRefused?.()
      return refusal(call, code)
    }
    try {
      return Effect.succeed(work.apply(now))
    } catch (cause) {
      if (cause instanceof Refusal) return refusal(call, cause.code)
      throw cause
    }
  }

  /** Others run before the answer, as while a real disk works; a process that has died by then gets none. */
  private run<A>(body: (now: number) => Effect.Effect<A, DiskError>): Effect.Effect<A, DiskError> {
    return Clock.currentTimeMillis.pipe(
      Effect.flatMap((now) => this.isDead ? Effect.never : body(now)),
      Effect.exit,
      Effect.tap(() => Effect.yieldNow),
      Effect.flatMap((exit) => this.isDead ? Effect.never : exit),
      Effect.uninterruptible
    )
  }
}

const refusal = (call: DiskCall, code: string) =>
  Effect.fail(new DiskError({ call: call.name, path: call.path, code, detail: `${code}: by the disk of the test` }))
