/** What is told about one known fault; the tests are found by their titles. */
export interface CaseText {
  readonly number: number
  readonly title: string
  /** What can go wrong, one or two sentences. */
  readonly risk: string
  /** What the log does about it. */
  readonly answer: string
}

/** One kind of fault, and the letter that stands for it in titles. */
export interface KindText {
  readonly letter: string
  readonly title: string
  readonly risk: string
  readonly answer: string
  /** The numbers of the cases that belong to it. */
  readonly cases: ReadonlyArray<number>
}
