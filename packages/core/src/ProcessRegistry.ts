/**
 * What must be known once a process: which logs are open, and which stores were probed.
 *
 * A reference with one default value, so that a test can stand for several processes by providing one each.
 */
import { Context } from "effect"

/** What the logs of one process know of each other. */
export class ProcessRegistryState {
  /** Identities of open logs: store and prefix. */
  readonly open = new Set<string>()
  /** Stores whose conditional writes were proven. */
  readonly probed = new Set<string>()
}

/** The registry of this process; a test that plays several processes gives each its own. */
export const ProcessRegistry = Context.Reference<ProcessRegistryState>("@effect-wal/core/ProcessRegistry", {
  defaultValue: () => new ProcessRegistryState()
})
