/**
 * A process of the simulation: a scheduler and a clock of its own, so that it can be killed or stopped between any two
 * steps of any of its fibers, and its wall clock can jump.
 *
 * **Owns** what its fibers still have to do. **Does not own** when they do it: the world runs one step at a time.
 *
 * A step is what a fiber does from one await to the next. What comes from outside (an answer, a timer) is a step too, so
 * nothing reaches a process that is stopped, and nothing of a killed one runs again, finalizers included: `kill -9`.
 */
import { Clock, Context, type Duration, Duration as Durations, Effect, type Fiber, Scheduler } from "effect"
import type { Timeline } from "./Timeline.ts"

const nanosPerMilli = 1_000_000

/** What the process does at some step to come. */
export type Interruption = "kill" | "stop"

export interface ProcessHooks {
  /** It can run one more step than it was told of before. */
  readonly onReady: (process: SimProcess) => void
  /** The planned interruption has come. */
  readonly onInterruption: (process: SimProcess, interruption: Interruption) => void
}

export interface ProcessSettings {
  readonly id: number
  readonly timeline: Timeline
  readonly hooks: ProcessHooks
  /** Operations of a fiber before others get their turn. */
  readonly maxOperations: number
  /** The wall clock at the start of the simulation, epoch milliseconds. */
  readonly epochMillis: number
}

class SimClock implements Clock.Clock {
  private readonly process: SimProcess
  private readonly timeline: Timeline

  constructor(process: SimProcess, timeline: Timeline) {
    this.process = process
    this.timeline = timeline
  }

  currentTimeMillisUnsafe(): number {
    return Math.floor(this.process.wallOffsetMillis + this.timeline.nowMillis)
  }
  readonly currentTimeMillis = Effect.sync(() => this.currentTimeMillisUnsafe())
  currentTimeNanosUnsafe(): bigint {
    return BigInt(this.currentTimeMillisUnsafe()) * BigInt(nanosPerMilli)
  }
  readonly currentTimeNanos = Effect.sync(() => this.currentTimeNanosUnsafe())
  monotonicTimeNanosUnsafe(): bigint {
    return BigInt(Math.round(this.timeline.nowMillis * nanosPerMilli))
  }
  readonly monotonicTimeNanos = Effect.sync(() => this.monotonicTimeNanosUnsafe())

  sleep(duration: Duration.Duration): Effect.Effect<void> {
    const millis = Durations.toMillis(duration)
    if (millis <= 0) return Effect.yieldNow
    if (!Number.isFinite(millis)) return Effect.never
    return Effect.callback<void>((resume) => {
      const cancel = this.timeline.after(millis, () => this.process.deliver(() => resume(Effect.void)))
      return Effect.sync(cancel)
    })
  }
}

export class SimProcess {
  readonly id: number
  /** Clock and scheduler of this process, for everything that runs in it. */
  readonly services: Context.Context<never>
  state: "running" | "stopped" | "dead" = "running"
  /** What the wall clock is ahead of the timeline. */
  wallOffsetMillis: number
  /** Its way to the store is so many times as long as that of others. */
  distance = 1
  private readonly hooks: ProcessHooks
  private steps: Array<() => void> = []
  private nextStep = 0
  private interruption: { readonly what: Interruption; afterSteps: number } | undefined

  constructor(settings: ProcessSettings) {
    this.id = settings.id
    this.hooks = settings.hooks
    this.wallOffsetMillis = settings.epochMillis
    const scheduler: Scheduler.Scheduler = {
      executionMode: "sync",
      shouldYield: (fiber) => fiber.currentOpCount >= settings.maxOperations,
      makeDispatcher: () => ({ scheduleTask: (task) => this.deliver(task), flush: () => undefined })
    }
    this.services = Context.make(Clock.Clock, new SimClock(this, settings.timeline)).pipe(
      Context.add(Scheduler.Scheduler, scheduler)
    )
  }

  /** It can run a step now. */
  get isReady(): boolean {
    return this.state === "running" && this.nextStep < this.steps.length
  }

  /** Something comes from outside: it is the last of its steps. */
  deliver(step: () => void): void {
    if (this.state === "dead") return
    this.steps.push(step)
    if (this.state === "running") this.hooks.onReady(this)
  }

  /** Runs the next step; only where `isReady`. */
  runStep(): void {
    const { interruption } = this
    if (interruption !== undefined && interruption.afterSteps-- <= 0) {
      this.interruption = undefined
      this.hooks.onInterruption(this, interruption.what)
      return
    }
    const step = this.steps[this.nextStep++]
    if (this.nextStep === this.steps.length) {
      this.steps = []
      this.nextStep = 0
    }
    step?.()
  }

  /** Starts a fiber. It takes its first step at once. */
  fork<A, E, R>(effect: Effect.Effect<A, E, R>, context: Context.Context<R>): Fiber.Fiber<A, E> {
    return Effect.runForkWith(Context.merge(context, this.services))(effect)
  }

  /** Is killed or stopped before the step that comes after so many others. */
  interruptAfter(afterSteps: number, what: Interruption): void {
    this.interruption = { what, afterSteps }
  }

  kill(): void {
    this.state = "dead"
    this.steps = []
    this.nextStep = 0
  }

  /** SIGSTOP: time goes on, it does not. */
  stop(): void {
    if (this.state === "running") this.state = "stopped"
  }

  /** SIGCONT. */
  resume(): void {
    if (this.state !== "stopped") return
    this.state = "running"
    for (let step = this.nextStep; step < this.steps.length; step++) this.hooks.onReady(this)
  }
}
