/** What `alarm` in a state says: somebody has stopped though nothing was damaged. */
export const Alarm = {
  none: 0,
  refused: 1,
  tooManyRounds: 2,
  spoolUndecided: 3,
  /** Not the protocol: the bound has no slot for a copy. */
  boundTooSmall: 4
} as const
