/** How far the model is explored: what there is of each thing. Within it, every order of steps is taken. */

/**
 * `plain`: on a host of its own, without a spool · `spool`: on the one host that has a spool, one at a time · `opener`: plain,
 * and dies when it has found the end, before its activation.
 */
export type ProcessKind = "plain" | "spool" | "opener"

export interface Bound {
  readonly name: string
  readonly about: string
  /** Processes that open the log, each once: a restart is one more. */
  readonly processes: ReadonlyArray<ProcessKind>
  /** Claims of the manifest that can land. */
  readonly epochs: number
  /** Slots that a writer gives, one record each. */
  readonly slots: number
  /** New records that all writers append; 15: as many as there are slots. */
  readonly records: number
  /** Slots under way at one time. */
  readonly window: number
  /** Writers commit the manifest: checkpoint, and what follows from it. */
  readonly commits: boolean
  /** Records are consumed: cursors, trim points, deletion. */
  readonly consumes: boolean
  /** What lies above a recorded end is collected. */
  readonly sweeps: boolean
  /** Calls of one producer, each repeated at will; 0: records have no producer. */
  readonly calls: number
  /** A barrier is put after so many rounds that the writer has won; 0: none is. */
  readonly barrierAfter: number
  /** Keys above the slots that barriers can stand at. */
  readonly barrierKeys: number
  /** Crashes; 15: each process may crash at every step. */
  readonly crashes: number
  /** Writes of the manifest that land while their sender does not know, or is dead; 15: without limit. */
  readonly lostAnswers: number
  /** Most rounds that an opener may need; 0: not looked at. */
  readonly mostRounds: number
}

/** No limit on crashes, or on lost answers. */
export const unlimited = 15
