/**
 * JSON Schema (2020-12) of the configuration file, for editors; written from the Schema that checks the file.
 *
 * It says what a single field may be. Rules between fields are only told by `config check`, but for what is required and
 * what excludes each other in one block. A variable may stand in the place of any value.
 */
import { valueAt } from "@effect-wal/core/config/DecodeTree"
import { formatDuration, parseDuration } from "@effect-wal/core/config/DurationText"
import { type FieldDoc, fieldDoc } from "@effect-wal/core/config/Field"
import { type PresetName, presetNames, presets } from "@effect-wal/core/config/Presets"
import { parseSize } from "@effect-wal/core/config/SizeText"
import { idRule, maxIdLength } from "@effect-wal/core/LogId"
import { Result, SchemaAST } from "effect"
import { FileBlock } from "../config/ServerSchema.ts"

/** A JSON Schema, or a part of one. */
export interface JsonSchema {
  readonly [keyword: string]: unknown
}

const dialect = "https://json-schema.org/draft/2020-12/schema"

const ref = (name: string): JsonSchema => ({ $ref: `#/$defs/${name}` })

const definitions: Readonly<Record<string, JsonSchema>> = {
  variable: {
    type: "string",
    pattern: "\\$\\{[A-Za-z_]",
    description: "A value from the environment: ${VAR} or ${VAR:-default}."
  },
  duration: {
    type: "string",
    pattern: "^[0-9]{1,15}(\\.[0-9]{1,15})?(ms|s|m|h|d)$",
    description: "A number and a unit: 500ms, 1.5s, 2m, 1h, 30d."
  },
  size: {
    type: "string",
    pattern: "^[0-9]{1,16}(\\.[0-9]{1,16})?(B|kB|KB|MB|GB|TB|KiB|MiB|GiB|TiB)$",
    description: "A number and a unit: 10MB is 10^7 bytes, 64MiB is 2^26."
  }
}

const orVariable = (...forms: ReadonlyArray<JsonSchema>): JsonSchema => ({ anyOf: [...forms, ref("variable")] })

/** The ends of a range that is written as `1 to 8`, each read by `parse`. */
const limitsOf = (
  range: string,
  parse: (text: string) => Result.Result<number, string>
): { readonly minimum?: number; readonly maximum?: number } => {
  const [low, high] = range.split(" to ").map(parse)
  return low === undefined || high === undefined || Result.isFailure(low) || Result.isFailure(high)
    ? {}
    : { minimum: low.success, maximum: high.success }
}

const parseNumber = (text: string): Result.Result<number, string> =>
  text !== "" && Number.isFinite(Number(text)) ? Result.succeed(Number(text)) : Result.fail("not a number")

const wordsOf = (doc: FieldDoc): ReadonlyArray<string> => doc.range.split(", ")

const textSchema = ({ range }: FieldDoc): JsonSchema =>
  range === idRule
    ? orVariable({ type: "string", pattern: `^[A-Za-z0-9._-]{1,${maxIdLength}}$` })
    : { type: "string", pattern: "\\S" }

const listSchema = (doc: FieldDoc): JsonSchema => {
  const words = /^a list of (\w+(?:, \w+)+)$/.exec(doc.range)?.[1]
  return {
    type: "array",
    minItems: 1,
    items: words === undefined ? { type: "string" } : orVariable({ enum: words.split(", ") })
  }
}

const valueSchema = (doc: FieldDoc): JsonSchema => {
  switch (doc.kind) {
    case "integer":
      return orVariable({ type: "integer", ...limitsOf(doc.range, parseNumber) })
    case "number":
      return orVariable({ type: "number", ...limitsOf(doc.range, parseNumber) })
    case "size":
      return orVariable({ type: "integer", ...limitsOf(doc.range, parseSize) }, ref("size"))
    case "duration":
      return orVariable(ref("duration"), ...doc.range.startsWith("0ms ") ? [{ const: 0 }] : [])
    case "choice":
      return orVariable({ enum: wordsOf(doc) })
    case "boolean":
      return orVariable({ type: "boolean" })
    case "url":
      return orVariable({ type: "string", format: "uri", pattern: "^https?://" })
    case "text":
    case "secret":
      return textSchema(doc)
    case "list":
      return listSchema(doc)
    case "refused":
      return { not: {} }
  }
}

/** The default as a value of the file; `undefined` where it is a sentence, or none. */
const defaultOf = (doc: FieldDoc): unknown => {
  const text = doc.default
  if (text === undefined) return undefined
  switch (doc.kind) {
    case "integer":
    case "number":
      return Result.getOrUndefined(parseNumber(text))
    case "size":
      return Result.getOrElse(parseNumber(text), () => Result.isSuccess(parseSize(text)) ? text : undefined)
    case "duration":
      return Result.isSuccess(parseDuration(text)) ? text : undefined
    case "choice":
      return wordsOf(doc).includes(text) ? text : undefined
    case "boolean":
      return text === "true" || text === "false" ? text === "true" : undefined
    default:
      return undefined
  }
}

const description = (doc: FieldDoc, value: unknown): string => {
  const range = doc.kind === "choice" || doc.kind === "boolean" || doc.kind === "refused" || doc.range === "not empty"
    ? []
    : [`Allowed: ${doc.range.replace(/^must be /, "")}.`]
  const byDefault = doc.default === undefined || value !== undefined ? [] : [`Default: ${doc.default}.`]
  return [doc.note, ...range, ...byDefault].join(" ")
}

const presetText = (name: PresetName): string => {
  const { flushInterval, linger, maxBytes, maxEntries } = presets[name]
  return `${maxEntries} records or ${maxBytes} bytes, at the latest after ${formatDuration(flushInterval)}; ` +
    `where somebody waits, after ${formatDuration(linger)}`
}

/** The presets, each with what it sets. */
const presetSchema: JsonSchema = orVariable(
  ...presetNames.map((name) => ({ const: name, description: presetText(name) }))
)

const fieldSchema = (doc: FieldDoc, place: string): JsonSchema => {
  const value = defaultOf(doc)
  return {
    ...place.endsWith("segment_tuning.strategy") ? presetSchema : valueSchema(doc),
    description: description(doc, value),
    ...value === undefined ? {} : { default: value },
    ...doc.kind === "secret" ? { writeOnly: true } : {},
    ...place.endsWith("durability.path") ? { deprecated: true } : {}
  }
}

const together = (...names: ReadonlyArray<string>): JsonSchema => ({ required: names })

const backend = "streams.*.durability.backend"

/** What a block adds to its fields: what is required in it, what excludes what. */
const blockRules: Readonly<Record<string, JsonSchema>> = {
  "": { required: ["streams"] },
  "server.tls": { description: "TLS of the server itself.", required: ["cert_file", "key_file"] },
  "server.tokens": { description: "Bearer tokens." },
  "server.tokens.*": {
    required: ["id", "scopes"],
    oneOf: [together("sha256"), together("file"), together("env")]
  },
  "server.limits": { description: "What requests may use." },
  streams: { description: "The logs that are served.", minItems: 1 },
  "streams.*": { required: ["durability"] },
  [backend]: { description: "Where and how the log is kept.", not: together("s3", "directory") },
  [`${backend}.local`]: { description: "Files on this machine's disk, of one process." },
  [`${backend}.s3`]: { description: "A bucket of S3, or of a store that speaks its protocol.", required: ["bucket"] },
  [`${backend}.directory`]: { description: "Objects as files, for one machine.", required: ["path"] },
  [`${backend}.segment_tuning`]: { description: "What a segment gathers: a preset, and what overrides it." },
  [`${backend}.segment`]: { description: "The older spelling of `segment_tuning`.", deprecated: true },
  [`${backend}.budget`]: {
    description: "What the requests of the log may cost.",
    oneOf: [together("puts_per_second"), together("dollars_per_month")]
  },
  [`${backend}.spool`]: {
    description: "Where segments wait on this machine's disk while the store is away.",
    required: ["path"]
  }
}

const schemaOf = (ast: SchemaAST.AST, path: ReadonlyArray<string>): JsonSchema => {
  const place = path.join(".")
  const doc = fieldDoc(ast.annotations)
  if (doc !== undefined) return fieldSchema(doc, place)
  const rules = blockRules[place] ?? {}
  if (SchemaAST.isObjects(ast)) {
    const properties = ast.propertySignatures.map((property) => {
      const name = String(property.name)
      return [name, schemaOf(property.type, [...path, name])] as const
    })
    return { type: "object", additionalProperties: false, properties: Object.fromEntries(properties), ...rules }
  }
  const element = SchemaAST.isArrays(ast) ? ast.rest[0] : undefined
  return element === undefined ? rules : { type: "array", items: schemaOf(element, [...path, "*"]), ...rules }
}

/** The schema of a configuration file. */
export const configSchema = (): JsonSchema => ({
  $schema: dialect,
  $id: "https://effect-wal.invalid/configuration.schema.json",
  title: "Configuration of effect-wal",
  description: "A file for `effect-wal serve --config`. `effect-wal config check` also tells the rules between fields.",
  ...schemaOf(FileBlock.ast, []),
  $defs: definitions
})

/** The schema of one place, such as `["server", "port"]`; `*` is each element of a list. */
export const schemaAt = (schema: JsonSchema, path: ReadonlyArray<string>): unknown =>
  valueAt(schema, path.flatMap((part) => part === "*" ? ["items"] : ["properties", part]))
