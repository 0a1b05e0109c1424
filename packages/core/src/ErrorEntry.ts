/** A row of the table of errors. */

/** What became of the records of the call that failed. */
export type DataOutcome = "durable" | "not-durable" | "unknown"

/** One row of the table. */
export interface ErrorEntry {
  /** When it is raised, as half a sentence. */
  readonly when: string
  /** What the caller should do. */
  readonly then: string
  readonly data: DataOutcome
  /** The same call may succeed later although nobody changed anything but the world. */
  readonly retryable: boolean
  readonly httpStatus: number
  /** Stable reason code: programs compare it, it never changes. */
  readonly code: string
}

/** A row, its fields in the order of the columns that matter most. */
export const entry = (
  code: string,
  httpStatus: number,
  data: DataOutcome,
  retryable: boolean,
  when: string,
  then: string
): ErrorEntry => ({ when, then, data, retryable, httpStatus, code })
