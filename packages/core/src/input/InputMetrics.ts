/** The metrics of an input, by stream and cursor. */
import { Effect, Metric } from "effect"

const appended = Metric.counter("wal_input_appended_total", {
  description: "Elements of the source that the log has accepted",
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
  readonly handled: () => void
  readonly retried: () => void
  readonly deadLettered: () => void
  readonly pending: (count: number) => void
}

/** The series of one input, as the fiber sees them. */
export const inputMeters = (labels: { readonly stream: string; readonly cursor: string }): Effect.Effect<InputMeters> =>
  Effect.map(Effect.context(), (context) => {
    const add = (counter: Metric.Metric<number, unknown>) => {
      const series = Metric.withAttributes(counter, labels)
      return (count = 1) => series.updateUnsafe(count, context)
    }
    return {
      appended: add(appended),
      handled: add(handled),
      retried: add(retries),
      deadLettered: add(deadLetters),
      pending: add(pending)
    }
  })
