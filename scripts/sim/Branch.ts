/** One branch of the protocol: where in the code it is taken, or which answer of the store it is. */

import type { AnswerName } from "../../packages/testing/src/simulation/AnswerCount.ts"

/** What a run must have for a branch to be taken at all; absent: any run with two writers and a faulty store. */
export type Needs =
  /**
   * Somebody deletes or changes objects behind the log's back, or a proxy answers in the store's place. Some of these can be
   * seen too by an opener that a newer writer has overtaken, and whose segments that one has deleted.
   */
  | "damage"
  /** The store is `packages/s3`, on something that speaks S3. */
  | "s3"
  /** The store is probed, and does not keep its conditions. */
  | "probe"
  /** The log has a spool. */
  | "spool"
  /** More ended epochs above the trim point than a manifest lists. */
  | "many epochs"

export interface Branch {
  /** Of the design: what a segment PUT was answered, or how a log is taken over. */
  readonly section: "4.1" | "4.2"
  /** What has happened, and what is done. Unique in its section. */
  readonly branch: string
  readonly needs?: Needs
  readonly count: BranchPlace | AnswerName
}

export interface BranchPlace {
  /** From the root of the repository. */
  readonly file: string
  /** Stands exactly once in the file; what is counted is the code at its `▸`, which is not in the file. */
  readonly at: string
}

/** Stands in `at` before the code that is counted. */
export const placeMark = "▸"

type Row = readonly [branch: string, at: string, needs?: Needs]

const needsOf = (needs: Needs | undefined) => needs === undefined ? {} : { needs }

/** Branches that are counted in one file. */
export const inFile = (
  section: Branch["section"],
  file: string,
  rows: ReadonlyArray<Row>
): ReadonlyArray<Branch> =>
  rows.map(([branch, at, needs]) => ({ section, branch, count: { file, at }, ...needsOf(needs) }))

/** Branches that are counted by what the store has answered. */
export const byAnswer = (
  section: Branch["section"],
  rows: ReadonlyArray<readonly [branch: string, answer: AnswerName]>
): ReadonlyArray<Branch> => rows.map(([branch, count]) => ({ section, branch, count }))

/** Names a branch in counts. */
export const branchId = ({ branch, section }: Branch): string => `${section} ${branch}`
