/** `docs/errors.md`, written from the tables that the program itself works with. */
import * as DurableInputError from "@effect-wal/core/DurableInputError"
import { inputErrors } from "@effect-wal/core/DurableInputErrorTable"
import { type ErrorEntry, errorTable } from "@effect-wal/core/ErrorTable"
import { type TypedErrorEntry, typedErrors } from "@effect-wal/core/TypedErrorTable"
import * as TypedRecord from "@effect-wal/core/TypedRecord"
import * as WalError from "@effect-wal/core/WalError"
import { Predicate } from "effect"
import { requestProblems } from "./RequestProblem.ts"

/** The names of the fields that an error class of a module carries. */
const fieldsOf = (module: object, tag: string): ReadonlyArray<string> => {
  const found: unknown = Object.entries(module).find(([name]) => name === tag)?.[1]
  const fields = Predicate.hasProperty(found, "fields") ? found.fields : {}
  return Predicate.isObject(fields) ? Object.keys(fields).filter((name) => name !== "_tag") : []
}

const code = (text: string): string => `\`${text}\``

const yesNo = (value: boolean): string => value ? "yes" : "no"

const sentence = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1)

const logRow = ([tag, entry]: readonly [string, ErrorEntry]): string =>
  `| ${code(tag)} | ${sentence(entry.when)}. | ${fieldsOf(WalError, tag).map(code).join(", ")} | ${entry.data} | ${
    yesNo(entry.retryable)
  } | ` +
  `${entry.httpStatus} | ${code(entry.code)} | ${entry.then} |`

const libraryRow = (module: object) => ([tag, entry]: readonly [string, TypedErrorEntry]): string =>
  `| ${code(tag)} | ${sentence(entry.when)}. | ${fieldsOf(module, tag).map(code).join(", ")} | ` +
  `${entry.data} | ${yesNo(entry.retryable)} | ${entry.then} |`

const problemRow = (
  [name, { data, httpStatus, retryable, when }]: readonly [
    string,
    (typeof requestProblems)[keyof typeof requestProblems]
  ]
) => `| ${code(name)} | ${sentence(when)}. | ${data} | ${yesNo(retryable)} | ${httpStatus} |`

/** The whole page. */
export const errorDocs = (): string =>
  `# Errors

Written by \`node scripts/write-error-docs.ts\` from \`packages/core/src/ErrorTable.ts\`,
\`packages/core/src/TypedErrorTable.ts\`, \`packages/core/src/DurableInputErrorTable.ts\` and
\`packages/server/src/RequestProblem.ts\`. Do not edit.

**Data** says what became of the records of the call: \`durable\` they are stored, or were before; \`not-durable\` nothing
of the call was appended; \`unknown\` the next writer of the log, or its status, decides. **Retry** says whether the same
call may succeed later although nobody changed anything. Over HTTP an error is
\`{"error":{"code","message","data","retryable","details"}}\`; \`details\` holds the fields. Codes never change.

\`WalVerify\` and \`WalRepair\` are modules of the library, see [verify-and-repair.md](verify-and-repair.md). Before that,
look whether the object can be put back from a copy or from an earlier version in the bucket. Nothing is changed or
deleted by a log that refuses to open.

## Of the log

| error | when | fields | data | retry | HTTP | code | what to do |
| --- | --- | --- | --- | --- | --- | --- | --- |
${Object.entries(errorTable).map(logRow).join("\n")}

## Of a typed log

In the library only; over HTTP a record is bytes.

| error | when | fields | data | retry | what to do |
| --- | --- | --- | --- | --- | --- |
${Object.entries(typedErrors).map(libraryRow(TypedRecord)).join("\n")}

## Of a durable input

In the library only: \`DurableInput\`.

| error | when | fields | data | retry | what to do |
| --- | --- | --- | --- | --- | --- |
${Object.entries(inputErrors).map(libraryRow(DurableInputError)).join("\n")}

## Of the HTTP server

| code | when | data | retry | HTTP |
| --- | --- | --- | --- | --- |
${Object.entries(requestProblems).map(problemRow).join("\n")}

\`disk_full\` and a 503 that may be tried again carry \`Retry-After\`.
`
