/**
 * A small checker of JSON Schema: the keywords that the schema of the configuration uses, and no others, so that a keyword
 * that is not checked cannot go unnoticed.
 */
import { isDeepStrictEqual } from "node:util"

type Schema = Readonly<Record<string, unknown>>

const isObject = (value: unknown): value is Schema =>
  typeof value === "object" && value !== null && !Array.isArray(value)

const schemasOf = (value: unknown): ReadonlyArray<Schema> => Array.isArray(value) ? value.filter(isObject) : []

const textsOf = (value: unknown): ReadonlyArray<string> =>
  Array.isArray(value) ? value.filter((each) => typeof each === "string") : []

const typeOf = (value: unknown): string =>
  value === null ? "null" : Array.isArray(value) ? "array" : Number.isInteger(value) ? "integer" : typeof value

const annotations = new Set([
  "$schema",
  "$id",
  "$defs",
  "title",
  "description",
  "default",
  "deprecated",
  "writeOnly",
  "format"
])

/** What is wrong with the value at `path`. */
type Keyword = (root: Schema, schema: Schema, value: unknown, path: string) => ReadonlyArray<string>

const isOk = (root: Schema, schema: Schema, value: unknown): boolean => check(root, schema, value, "").length === 0

const when = (wrong: boolean, path: string, what: string): ReadonlyArray<string> => wrong ? [`${path}: ${what}`] : []

const keywords: Readonly<Record<string, Keyword>> = {
  $ref: (root, { $ref }, value, path) => {
    const name = String($ref).replace("#/$defs/", "")
    const definitions = root["$defs"]
    const target = isObject(definitions) ? definitions[name] : undefined
    if (!isObject(target)) throw new Error(`no definition ${name}`)
    return check(root, target, value, path)
  },
  type: (_, { type }, value, path) => {
    const found = typeOf(value)
    return when(found !== type && !(type === "number" && found === "integer"), path, `is ${found}, not ${String(type)}`)
  },
  enum: (_, schema, value, path) => {
    const allowed = schema["enum"]
    return when(!Array.isArray(allowed) || !allowed.includes(value), path, "is not one of the words")
  },
  const: (_, schema, value, path) => when(!isDeepStrictEqual(schema["const"], value), path, "is another value"),
  minimum: (_, { minimum }, value, path) =>
    when(typeof value === "number" && value < Number(minimum), path, `is below ${String(minimum)}`),
  maximum: (_, { maximum }, value, path) =>
    when(typeof value === "number" && value > Number(maximum), path, `is above ${String(maximum)}`),
  pattern: (_, { pattern }, value, path) =>
    when(
      typeof value === "string" && !new RegExp(String(pattern), "u").test(value),
      path,
      `does not fit ${String(pattern)}`
    ),
  minItems: (_, { minItems }, value, path) =>
    when(Array.isArray(value) && value.length < Number(minItems), path, "has too few elements"),
  items: (root, { items }, value, path) =>
    Array.isArray(value) && isObject(items)
      ? value.flatMap((each, index) => check(root, items, each, `${path}[${index}]`))
      : [],
  required: (_, { required }, value, path) =>
    isObject(value)
      ? textsOf(required).filter((name) => !Object.hasOwn(value, name)).map((name) => `${path}: ${name} is missing`)
      : [],
  properties: (root, { properties }, value, path) =>
    isObject(value) && isObject(properties)
      ? Object.entries(value).flatMap(([name, each]) => {
        const schema = Object.hasOwn(properties, name) ? properties[name] : undefined
        return isObject(schema) ? check(root, schema, each, `${path}.${name}`) : []
      })
      : [],
  additionalProperties: (_, { additionalProperties, properties }, value, path) => {
    if (additionalProperties !== false) throw new Error("only additionalProperties: false is checked")
    return isObject(value) && isObject(properties)
      ? Object.keys(value).filter((name) => !Object.hasOwn(properties, name)).map((name) =>
        `${path}: ${name} is not known`
      )
      : []
  },
  anyOf: (root, { anyOf }, value, path) =>
    when(!schemasOf(anyOf).some((each) => isOk(root, each, value)), path, "fits none of its forms"),
  oneOf: (root, { oneOf }, value, path) =>
    when(
      schemasOf(oneOf).filter((each) => isOk(root, each, value)).length !== 1,
      path,
      "does not fit exactly one form"
    ),
  not: (root, { not }, value, path) => when(isObject(not) && isOk(root, not, value), path, "must not be so")
}

const check = (root: Schema, schema: Schema, value: unknown, path: string): ReadonlyArray<string> =>
  Object.keys(schema).flatMap((name) => {
    if (annotations.has(name)) return []
    const keyword = keywords[name]
    if (keyword === undefined) throw new Error(`the keyword ${name} is not checked here`)
    return keyword(root, schema, value, path)
  })

/** Everything that is wrong with a value; empty where it conforms. Throws at a keyword that is not known here. */
export const checkSchema = (schema: Schema, value: unknown): ReadonlyArray<string> => check(schema, schema, value, "")
