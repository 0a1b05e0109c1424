/**
 * The metrics of an input, by stream and cursor. Counters stay when it has ended, as the sum over all its runs in this
 * process: one that runs again and again would else lose what was counted between two looks.
 */
import { Effect, Metric } from "effect"

const appended = Metric.counter("wal_input_appended_total", {
  description: "Elements of the source that the log has accepted",
  incremental: true
})
const refused = Metric.counter("wal_input_refused_total", {
  description: "Elements of the source that the log has refused and that were kept elsewhere",
  incremental: true
})
const handled = Metric.counter("wal_input_handled_total", {
  description: "Elements whose handler has succeeded",
  incremental: true
})
const retries = Metric.counter("wal_input_retries_total", {
  description: "Runs of a handler after a first one",
  incremental: true
})
const deadLetters = Metric.counter("wal_input_dead_letters_total", {
  description: "Elements that were given up and kept elsewhere",
  incremental: true
})
const pending = Metric.gauge("wal_input_pending", {
  description: "Elements of the source that the input holds in memory"
})

/** Where an input counts. */
export interface InputMeters {
  readonly appended: (count: number) => void
  readonly refused: () => void
  readonly handled: () => void
  readonly retried: () => void
  readonly deadLettered: () => void
  readonly pending: (count: number) => void
  /** Nothing is held any more. */
  readonly ended: () => void
}

/** The series of one input, as the fiber sees them. */
export const inputMeters = (labels: { readonly stream: string; readonly cursor: string }): Effect.Effect<InputMeters> =>
  Effect.map(Effect.context(), (context) => {
    const add = (counter: Metric.Metric<number, unknown>) => {
      const series = Metric.withAttributes(counter, labels)
      return (count = 1) => series.updateUnsafe(count, context)
    }
    const held = Metric.withAttributes(pending, labels)
    let isOver = false
    return {
      appended: add(appended),
      refused: add(refused),
      handled: add(handled),
      retried: add(retries),
      deadLettered: add(deadLetters),
      // Elements can be committed after the input has ended.
      pending: (count) => isOver ? undefined : held.updateUnsafe(count, context),
      ended: () => {
        isOver = true
        Metric.removeUnsafe(held, context)
      }
    }
  })
