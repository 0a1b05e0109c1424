/**
 * `${VAR}` and `${VAR:-default}` in the scalars of a parsed file; `$${` is a literal `${`, any other `$` is itself.
 *
 * It happens after parsing, so a value of `a: b` or of two lines is that text and never structure. What is put in is
 * not looked at again. Unset and blank variables are errors: an empty id would be shared by all nodes.
 */
import { fieldAt, formatPath, type LocatedField, type Path, type Problem } from "@effect-wal/core/config/DecodeTree"

/** The variables of the process. */
export type Environment = Readonly<Record<string, string | undefined>>

/** A tree without variables. */
export interface Substituted {
  readonly tree: unknown
  /** By path: the variables that the value came from. */
  readonly variables: ReadonlyMap<string, ReadonlyArray<string>>
  readonly problems: ReadonlyArray<Problem>
}

const reference = /\$\$\{|\$\{([^}]*)\}|\$\{/g
const inside = /^([A-Za-z_][A-Za-z0-9_]*)(?::-([^]*))?$/

interface Replaced {
  readonly text: string
  readonly names: ReadonlyArray<string>
  readonly rules: ReadonlyArray<string>
}

const replace = (text: string, env: Environment): Replaced => {
  const names: Array<string> = []
  const rules: Array<string> = []
  const failing = (rule: string): string => {
    rules.push(rule)
    return ""
  }
  const replaced = text.replace(reference, (whole: string, body: string | undefined) => {
    if (whole === "$${") return "${"
    if (body === undefined) return failing("has a ${ without its }; write $${ for a literal ${")
    const [, name, fallback] = inside.exec(body) ?? []
    if (name === undefined || fallback?.includes("${") === true) {
      return failing("has a ${…} that is neither ${NAME} nor ${NAME:-default}; write $${ for a literal ${")
    }
    names.push(name)
    const value = Object.hasOwn(env, name) ? env[name] : undefined
    if (value !== undefined && value.trim() !== "") return value
    if (fallback !== undefined && fallback.trim() !== "") return fallback
    if (fallback !== undefined) return failing(`needs the variable ${name}: it is not set, and its default is blank`)
    return failing(`needs the variable ${name}, which is ${value === undefined ? "not set" : "blank"}`)
  })
  return { text: replaced, names, rules }
}

/** A variable is text; where the field is a number or a switch, text of that kind is taken for it. */
const asKind = (text: string, kind: string | undefined): unknown => {
  if ((kind === "integer" || kind === "size") && /^-?\d+(\.\d+)?$/.test(text)) return Number(text)
  return kind === "boolean" && (text === "true" || text === "false") ? text === "true" : text
}

/** Puts the variables in. `fields` tell what kind of value stands where. */
export const substitute = (tree: unknown, env: Environment, fields: ReadonlyArray<LocatedField>): Substituted => {
  const variables = new Map<string, ReadonlyArray<string>>()
  const problems: Array<Problem> = []
  const walk = (value: unknown, path: Path): unknown => {
    if (typeof value === "string") {
      const { names, rules, text } = replace(value, env)
      problems.push(...rules.map((rule) => ({ path, rule, hidden: true })))
      if (names.length === 0) return text
      variables.set(formatPath(path), names)
      return asKind(text, fieldAt(fields, path)?.doc.kind)
    }
    if (Array.isArray(value)) return value.map((each, index) => walk(each, [...path, index]))
    if (typeof value !== "object" || value === null) return value
    return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, walk(each, [...path, name])]))
  }
  return { tree: walk(tree, []), variables, problems }
}
