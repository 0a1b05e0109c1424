/**
 * Decodes a tree of plain values with a Schema and reports everything that is wrong with it at once.
 *
 * **Owns** the walk over Schema issues, the wording for blocks and unknown keys, and what of a value may be shown.
 * **Does not own** the rules of fields (`Field.ts`) and the rules between fields (`BackendRules.ts`).
 */
import { Result, Schema, SchemaAST } from "effect"
import type { SchemaIssue } from "effect"
import type { ConfigProblem } from "../WalError.ts"
import { type FieldDoc, fieldDoc } from "./Field.ts"

/** Keys and positions from the root of a tree. */
export type Path = ReadonlyArray<string | number>

/** One broken rule, at a place of the tree. */
export interface Problem {
  readonly path: Path
  readonly rule: string
  /** Further places that the rule looked at: where one of them is itself broken, the rule is not applied. */
  readonly reads?: ReadonlyArray<Path>
  /** Nothing of the value is shown. */
  readonly hidden?: boolean
}

/** A field with its place; `*` stands for each position of a list. */
export interface LocatedField {
  readonly path: ReadonlyArray<string>
  readonly doc: FieldDoc
}

/** The text of a path, as in `streams[0].durability.backend`. */
export const formatPath = (path: Path): string =>
  path.reduce<string>(
    (text, part) => typeof part === "number" ? `${text}[${part}]` : text === "" ? part : `${text}.${part}`,
    ""
  )

/** All fields of a Schema in order of writing. */
export const listFields = (ast: SchemaAST.AST, path: ReadonlyArray<string> = []): ReadonlyArray<LocatedField> => {
  const doc = fieldDoc(ast.annotations)
  if (doc !== undefined) return [{ path, doc }]
  if (SchemaAST.isObjects(ast)) {
    return ast.propertySignatures.flatMap((property) => listFields(property.type, [...path, String(property.name)]))
  }
  return SchemaAST.isArrays(ast) ? ast.rest.flatMap((element) => listFields(element, [...path, "*"])) : []
}

/** What stands at a path; `undefined` where nothing does. */
export const valueAt = (tree: unknown, path: Path): unknown =>
  path.reduce<unknown>(
    (value, part) =>
      typeof value === "object" && value !== null && Object.hasOwn(value, part) ? Reflect.get(value, part) : undefined,
    tree
  )

/** The field at a path, `undefined` for a block or an unknown key. */
export const fieldAt = (fields: ReadonlyArray<LocatedField>, path: Path): LocatedField | undefined =>
  fields.find((each) =>
    each.path.length === path.length &&
    each.path.every((part, index) => part === "*" ? typeof path[index] === "number" : part === path[index])
  )

const startsWith = (path: Path, start: Path): boolean => start.every((part, index) => part === path[index])

/** Distance of two words in edits, for "did you mean"; small words, so the plain table will do. */
const editDistance = (left: string, right: string): number => {
  let previous = Array.from({ length: right.length + 1 }, (_, index) => index)
  for (let row = 1; row <= left.length; row++) {
    const current = [row]
    for (let column = 1; column <= right.length; column++) {
      const replaced = (previous[column - 1] ?? 0) + (left[row - 1] === right[column - 1] ? 0 : 1)
      current.push(Math.min(replaced, (previous[column] ?? 0) + 1, (current[column - 1] ?? 0) + 1))
    }
    previous = current
  }
  return previous[right.length] ?? 0
}

const unknownKey = (path: Path, ast: SchemaAST.AST): Problem => {
  const known = SchemaAST.isObjects(ast) ? ast.propertySignatures.map((property) => String(property.name)) : []
  const name = String(path.at(-1)).slice(0, 64)
  const nearest =
    known.map((each) => ({ each, distance: editDistance(name, each) })).sort((a, b) => a.distance - b.distance)[0]
  const advice = nearest !== undefined && nearest.distance <= 2
    ? `did you mean ${nearest.each}?`
    : `known keys here: ${known.join(", ")}`
  return { path, rule: `is not a known key; ${advice}` }
}

const blockRule = (ast: SchemaAST.AST): string => SchemaAST.isArrays(ast) ? "must be a list" : "must be a block of keys"

const problemsOf = (issue: SchemaIssue.Issue, path: Path): ReadonlyArray<Problem> => {
  switch (issue._tag) {
    case "Pointer":
      return problemsOf(issue.issue, [
        ...path,
        ...issue.path.map((part) => typeof part === "number" ? part : String(part))
      ])
    case "Composite":
    case "AnyOf":
      return issue.issues.flatMap((each) => problemsOf(each, path))
    case "Encoding":
    case "Filter":
      return problemsOf(issue.issue, path)
    case "UnexpectedKey":
      return [unknownKey(path, issue.ast)]
    case "InvalidType":
      return [{ path, rule: blockRule(issue.ast) }]
    case "MissingKey":
      return [{ path, rule: "is missing" }]
    case "InvalidValue":
    case "Forbidden":
      return [{ path, rule: issue.annotations?.message ?? "is not allowed" }]
    case "OneOf":
      return [{ path, rule: "is not allowed" }]
  }
}

/**
 * The tree without what stands at the paths; an element of a list becomes an empty block, so that the others keep their
 * place. In one pass: a file that is no configuration at all has thousands of unknown keys.
 */
const without = (tree: unknown, paths: ReadonlyArray<Path>): unknown => {
  if (paths.some((path) => path.length === 0)) return {}
  if (typeof tree !== "object" || tree === null) return tree
  const inside = Map.groupBy(paths, (path) => String(path[0]))
  const below = (name: string): ReadonlyArray<Path> => inside.get(name)?.map((path) => path.slice(1)) ?? []
  const change = (value: unknown, left: ReadonlyArray<Path>) => left.length === 0 ? value : without(value, left)
  if (Array.isArray(tree)) return tree.map((each, index) => change(each, below(String(index))))
  return Object.fromEntries(
    Object.entries(tree).flatMap(([name, value]) => {
      const left = below(name)
      return left.some((path) => path.length === 0) ? [] : [[name, change(value, left)]]
    })
  )
}

/**
 * Decodes `tree`, then applies `rules` to what came out. A broken value is taken out and the rest decoded again, so
 * that one report names the problems of all blocks, and also the broken rules between fields that are themselves fine.
 */
export const decodeTree = <S extends Schema.ConstraintDecoder<unknown>>(
  schema: S,
  tree: unknown,
  rules: (decoded: S["Type"]) => ReadonlyArray<Problem>
): Result.Result<S["Type"], ReadonlyArray<Problem>> => {
  const decode = Schema.decodeUnknownResult(schema, { errors: "all", onExcessProperty: "error" })
  const found: Array<Problem> = []
  const relevant = (problem: Problem): boolean =>
    ![problem.path, ...(problem.reads ?? [])].some((path) => found.some((broken) => startsWith(path, broken.path)))
  let rest = tree
  for (;;) {
    const decoded = decode(rest)
    if (Result.isSuccess(decoded)) {
      const all = [...found, ...rules(decoded.success).filter(relevant)]
      return all.length === 0 ? Result.succeed(decoded.success) : Result.fail(all)
    }
    const problems = problemsOf(decoded.failure.issue, []).filter(relevant)
    // Each round takes out at least one value; without this the loop could not be seen to end.
    if (problems.length === 0) return Result.fail(found)
    for (const problem of problems) found.push(problem)
    rest = without(rest, problems.map((problem) => problem.path))
  }
}

const shownText = (value: unknown, doc: FieldDoc | undefined): string | undefined => {
  if (value === undefined) return undefined
  if (doc?.kind === "secret") return "<redacted>"
  if (typeof value === "object" && value !== null) return Array.isArray(value) ? "a list" : "a block of keys"
  const text = typeof value === "string" ? JSON.stringify(value) : String(value)
  // A URL with an @ has a user in it, and most likely a password.
  if (doc?.kind === "url" && text.includes("@")) return "<redacted>"
  return text.length > 120 ? `${text.slice(0, 117)}...` : text
}

/** The problems as they are reported: paths as text, values where they may be shown. */
export const reportProblems = (
  problems: ReadonlyArray<Problem>,
  context: {
    readonly schema: Schema.Top
    readonly tree: unknown
    readonly formatPath?: (path: Path) => string
  }
): ReadonlyArray<ConfigProblem> => {
  const fields = listFields(context.schema.ast)
  return problems.map((problem) => {
    // Where there is no field, nothing is shown: an unknown key can be a misspelt secret.
    const doc = fieldAt(fields, problem.path)?.doc
    const value = problem.hidden === true || doc === undefined
      ? undefined
      : shownText(valueAt(context.tree, problem.path), doc)
    return {
      path: (context.formatPath ?? formatPath)(problem.path) || "(the whole)",
      rule: problem.rule,
      ...(value === undefined ? {} : { value })
    }
  })
}
