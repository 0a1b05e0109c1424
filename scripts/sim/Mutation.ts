/** A change of the sources that walks must notice. */
import type { Edit } from "../CopiedTree.ts"
import { rules } from "../rules.ts"

export interface Mutation {
  /** What the changed code does, or the rule that it is without. */
  readonly name: string
  readonly edits: ReadonlyArray<Edit>
}

/** Each edit: a file from `packages/core/src`, text that stands exactly once in it, and what stands there instead. */
export const mutation = (
  name: string,
  ...edits: ReadonlyArray<readonly [file: string, find: string, replace: string]>
): Mutation => ({ name, edits: edits.map(([file, find, replace]) => ({ file, find, replace })) })

/** The edits that take one of the rules of `rules.ts` out. */
export const without = (name: string): Mutation => {
  const rule = rules.find((one) => one.name === name)
  if (rule === undefined) throw new Error(`there is no rule ${JSON.stringify(name)}`)
  return { name: `without: ${name}`, edits: rule.edits }
}
