/**
 * The fields that a configuration Schema is made of: each carries its documentation, and its range is written from the
 * same numbers that check it, so that the two cannot differ.
 *
 * A field decodes `unknown` and fails with exactly one rule; that keeps the report short and in our words.
 */
import { Duration, Effect, Redacted, Result, Schema, SchemaGetter, SchemaIssue } from "effect"
import { formatDuration, parseDuration } from "./DurationText.ts"
import { formatSize, parseSize } from "./SizeText.ts"

/** What kind of value a field takes; a substituted variable is text and is read as that kind. */
export type FieldKind =
  | "integer"
  | "number"
  | "size"
  | "duration"
  | "choice"
  | "boolean"
  | "text"
  | "url"
  | "secret"
  | "list"
  | "refused"

/** The documentation of a field; `docs/configuration.md` is written from it. */
export interface FieldDoc {
  readonly kind: FieldKind
  /** What is allowed, for people. */
  readonly range: string
  /** What the field does, and what a lower or a higher value costs. */
  readonly note: string
  /** The default, for people; absent where there is none. */
  readonly default?: string
}

const key = "effect-wal/config"

const isFieldDoc = (value: unknown): value is FieldDoc =>
  typeof value === "object" && value !== null && "kind" in value && "range" in value && "note" in value

/** The documentation that a field's annotations carry; `undefined` where the schema is a block of fields. */
export const fieldDoc = (annotations: Schema.Annotations.Annotations | undefined): FieldDoc | undefined => {
  const doc = annotations?.[key]
  return isFieldDoc(doc) ? doc : undefined
}

/** A field of type `A`, which decodes whatever stands in the file. */
export type Field<A> = Schema.Codec<A, unknown>

/**
 * A field that decodes with `parse`, whose failure is the rule that was broken. `target` has no checks of its own:
 * Schema puts annotations on the last check, where `fieldDoc` would not find them.
 */
export const field = <A>(
  target: Schema.Codec<A>,
  doc: FieldDoc,
  parse: (value: unknown) => Result.Result<A, string>
): Field<A> =>
  Schema.Unknown.pipe(Schema.decodeTo(target, {
    decode: SchemaGetter.transformEffect<A, unknown>((value) => {
      const parsed = parse(value)
      return Result.isSuccess(parsed)
        ? Effect.succeed(parsed.success)
        : Effect.fail(new SchemaIssue.InvalidValue({ message: parsed.failure }))
    }),
    encode: SchemaGetter.passthrough<unknown, A>({ strict: false })
  })).annotate({ [key]: doc })

/** The field with a default, written as it would be in the file. */
export const withDefault = <A>(self: Field<A>, value: string | number | boolean) => {
  const doc = fieldDoc(self.ast.annotations)
  return self.annotate({ [key]: { ...doc, default: String(value) } }).pipe(
    Schema.withDecodingDefaultKey(Effect.succeed(value))
  )
}

/** The field, absent unless it is given; `shown` is the default in the documentation, where something else sets it. */
export const optional = <A>(self: Field<A>, shown?: string) => {
  const doc = fieldDoc(self.ast.annotations)
  return Schema.optionalKey(shown === undefined ? self : self.annotate({ [key]: { ...doc, default: shown } }))
}

const absent = (value: unknown): value is null | undefined => value === null || value === undefined

interface NumberLimits {
  /** Inclusive, as `max`. */
  readonly min: number
  readonly max: number
  readonly note: string
}

const numeric = (kind: "integer" | "number", what: string, isOne: (value: number) => boolean) =>
(
  { max, min, note }: NumberLimits
) => {
  const range = `${min} to ${max}`
  return field(Schema.Number, { kind, range, note }, (value) => {
    if (typeof value === "string") return Result.fail(`must be ${what}, ${range}; write it without quotes`)
    return typeof value === "number" && isOne(value) && value >= min && value <= max
      ? Result.succeed(value)
      : Result.fail(`${absent(value) ? "has no value; it " : ""}must be ${what}, ${range}`)
  })
}

/** A whole number; text is refused, also text of digits. */
export const integer = numeric("integer", "a whole number", Number.isSafeInteger)

/** A number with or without decimals; text is refused. */
export const decimal = numeric("number", "a number", Number.isFinite)

/** A duration; `min` and `max` are inclusive and written as in the file. */
export const duration = (options: { readonly min: string; readonly max: string; readonly note: string }) => {
  const limit = (text: string) => Result.getOrThrow(parseDuration(text))
  const [min, max] = [limit(options.min), limit(options.max)]
  const range = `${formatDuration(min)} to ${formatDuration(max)}`
  return field(
    Schema.Duration,
    { kind: "duration", range, note: options.note },
    (value) =>
      Result.flatMap(
        parseDuration(value),
        (parsed) =>
          Duration.isLessThan(parsed, min) || Duration.isGreaterThan(parsed, max)
            ? Result.fail(`must be ${range}`)
            : Result.succeed(parsed)
      )
  )
}

/** A size in bytes; `min` and `max` are inclusive. */
export const size = (options: { readonly min: number; readonly max: number; readonly note: string }) => {
  const range = `${formatSize(options.min)} to ${formatSize(options.max)}`
  return field(
    Schema.Number,
    { kind: "size", range, note: options.note },
    (value) =>
      Result.flatMap(
        parseSize(value),
        (bytes) => bytes < options.min || bytes > options.max ? Result.fail(`must be ${range}`) : Result.succeed(bytes)
      )
  )
}

/** One of a few words; `refused` names words that are known but not taken, each with the reason. */
export const choice = <const A extends ReadonlyArray<string>>(
  values: A,
  options: { readonly note: string; readonly refused?: Readonly<Record<string, string>> }
) => {
  const words: Schema.Codec<A[number]> = Schema.Literals(values)
  const isWord = Schema.is(words)
  const range = values.join(", ")
  return field(words, { kind: "choice", range, note: options.note }, (value) => {
    if (isWord(value)) return Result.succeed(value)
    const reason = typeof value === "string" && options.refused !== undefined && Object.hasOwn(options.refused, value)
      ? options.refused[value]
      : undefined
    return Result.fail(reason ?? `${absent(value) ? "has no value; it " : ""}must be one of ${range}`)
  })
}

/** `true` or `false`. */
export const flag = (options: { readonly note: string }) =>
  field(
    Schema.Boolean,
    { kind: "boolean", range: "true, false", note: options.note },
    (value) => typeof value === "boolean" ? Result.succeed(value) : Result.fail("must be true or false, without quotes")
  )

interface TextRule {
  readonly note: string
  /** What `test` asks for, for people. */
  readonly range?: string
  readonly test?: (value: string) => boolean
  readonly kind?: FieldKind
}

const parseWords = (options: TextRule) => (value: unknown): Result.Result<string, string> => {
  if (absent(value)) return Result.fail("has no value; it must be text")
  if (typeof value !== "string") return Result.fail("must be text: write it in quotes")
  if (value.trim() === "") return Result.fail("must not be empty")
  return options.test === undefined || options.test(value)
    ? Result.succeed(value)
    : Result.fail(options.range ?? "is not allowed")
}

/** Text that is not blank; numbers, dates and booleans of YAML are refused with the advice to quote. */
export const text = (options: TextRule) =>
  field(
    Schema.String,
    { kind: options.kind ?? "text", range: options.range ?? "not empty", note: options.note },
    parseWords(options)
  )

/** Text that is never shown: not in a report, not by `config print`, not in a log. */
export const secret = (options: TextRule) =>
  field(
    Schema.Redacted(Schema.String),
    { kind: "secret", range: options.range ?? "not empty", note: options.note },
    (value) => Result.map(parseWords(options)(value), (words) => Redacted.make(words))
  )

/** A key that is known, but whose feature this version does not have. */
export const refused = (reason: string) =>
  Schema.optionalKey(field(Schema.Never, { kind: "refused", range: "", note: reason }, () => Result.fail(reason)))
