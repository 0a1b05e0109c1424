/**
 * `${VAR}` and `${VAR:-default}` in the scalars of a parsed file; `$${` is a literal `${`, any other `$` is itself.
 *
 * It happens after parsing, so a value of `a: b` or of two lines is that text and never structure. What is put in is
 * not looked at again. Unset and blank variables are errors: an empty id would be shared by all nodes.
 *
 * What a variable with the name of a secret holds is never shown, wherever it was put: a field that is no secret is where
 * a secret lands by mistake.
 */
import { fieldAt, formatPath, type LocatedField, type Path, type Problem } from "@effect-wal/core/config/DecodeTree"

/** The variables of the process. */
export type Environment = Readonly<Record<string, string | undefined>>

/** A tree without variables. */
export interface Substituted {
  readonly tree: unknown
  /** By path: the variables that the value came from. */
  readonly variables: ReadonlyMap<string, ReadonlyArray<string>>
  /** The same tree as it may be shown: variables with the name of a secret stand in it as `${NAME}`. */
  readonly shown: unknown
  /** The places where the two differ, as text. */
  readonly concealed: ReadonlySet<string>
  /** Takes what such variables hold out of a sentence that quotes a value. */
  readonly conceal: (text: string) => string
  readonly problems: ReadonlyArray<Problem>
}

/** Whether a variable holds a secret, by its name. */
const isSecretName = (name: string): boolean => /SECRET|TOKEN|PASSWORD|KEY|CREDENTIAL/i.test(name)

/** Shorter values are no secret, and stand in many a word. */
const shortestSecret = 4

const reference = /\$\$\{|\$\{([^}]*)\}/g
const unended = /\$\$\{|\$\{/g
const inside = /^([A-Za-z_][A-Za-z0-9_]*)(?::-([^]*))?$/

interface Replaced {
  readonly text: string
  /** As `text`, without secrets. */
  readonly shown: string
  /** By name: what was put in that is not shown. */
  readonly secrets: ReadonlyMap<string, string>
  readonly names: ReadonlyArray<string>
  readonly rules: ReadonlyArray<string>
}

const replace = (text: string, env: Environment): Replaced => {
  const names: Array<string> = []
  const rules: Array<string> = []
  const secrets = new Map<string, string>()
  const failing = (rule: string): string => {
    rules.push(rule)
    return ""
  }
  const valueOf = (whole: string, body: string | undefined): string => {
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
  }
  let shown = ""
  let end = 0
  // Behind the last } no reference can end: looking for its end from each ${ there would take the square of the length.
  const last = text.lastIndexOf("}") + 1
  const replaced = text.slice(0, last).replace(reference, (whole: string, body: string | undefined, at: number) => {
    const value = valueOf(whole, body)
    const name = inside.exec(body ?? "")?.[1]
    const isSecret = name !== undefined && isSecretName(name)
    if (isSecret) secrets.set(name, value)
    shown += text.slice(end, at) + (isSecret ? `\${${name}}` : value)
    end = at + whole.length
    return value
  })
  const tail = text.slice(last).replace(unended, (whole: string) => valueOf(whole, undefined))
  return { text: replaced + tail, shown: shown + text.slice(end, last) + tail, secrets, names, rules }
}

/** A variable is text; where the field is a number or a switch, text of that kind is taken for it. */
const asKind = (text: string, kind: string | undefined): unknown => {
  if ((kind === "integer" || kind === "number" || kind === "size") && /^-?\d+(\.\d+)?$/.test(text)) return Number(text)
  return kind === "boolean" && (text === "true" || text === "false") ? text === "true" : text
}

/** Puts the variables in. `fields` tell what kind of value stands where. */
export const substitute = (tree: unknown, env: Environment, fields: ReadonlyArray<LocatedField>): Substituted => {
  const variables = new Map<string, ReadonlyArray<string>>()
  const hidden = new Map<string, string>()
  const secrets = new Map<string, string>()
  const problems: Array<Problem> = []
  const walk = (value: unknown, path: Path): unknown => {
    if (typeof value === "string") {
      const replaced = replace(value, env)
      for (const rule of replaced.rules) problems.push({ path, rule, hidden: true })
      if (replaced.names.length === 0) return replaced.text
      variables.set(formatPath(path), replaced.names)
      for (const [name, secret] of replaced.secrets) secrets.set(name, secret)
      if (replaced.secrets.size > 0) hidden.set(formatPath(path), replaced.shown)
      return asKind(replaced.text, fieldAt(fields, path)?.doc.kind)
    }
    return mapChildren(value, path, walk)
  }
  const show = (value: unknown, path: Path): unknown => hidden.get(formatPath(path)) ?? mapChildren(value, path, show)
  const substituted = walk(tree, [])
  return {
    tree: substituted,
    variables,
    shown: show(substituted, []),
    concealed: new Set(hidden.keys()),
    conceal: (text) =>
      [...secrets].reduce(
        (rest, [name, secret]) => secret.length < shortestSecret ? rest : rest.replaceAll(secret, () => `\${${name}}`),
        text
      ),
    problems
  }
}

/** The same tree with `change` of all that stands directly in it; what is neither a list nor a block stays. */
const mapChildren = (value: unknown, path: Path, change: (value: unknown, path: Path) => unknown): unknown => {
  if (Array.isArray(value)) return value.map((each, index) => change(each, [...path, index]))
  if (typeof value !== "object" || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, change(each, [...path, name])]))
}
