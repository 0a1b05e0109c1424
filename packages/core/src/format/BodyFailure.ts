/** Why a body is not what its header says. */

export interface BodyFailure {
  readonly _tag: "BodyFailure"
  /** From the start of the raw body. */
  readonly offset: number
  readonly reason: string
}

export const bodyFailure = (offset: number, reason: string): BodyFailure => ({ _tag: "BodyFailure", offset, reason })
