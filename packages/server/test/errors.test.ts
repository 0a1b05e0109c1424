import { errorTable } from "@effect-wal/core/ErrorTable"
import { typedErrors } from "@effect-wal/core/TypedErrorTable"
import * as TypedRecord from "@effect-wal/core/TypedRecord"
import * as TypedWal from "@effect-wal/core/TypedWal"
import * as WalError from "@effect-wal/core/WalError"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { readFileSync } from "node:fs"
import { answering, errorBody, errorResponse, errorStatus } from "../src/ApiError.ts"
import { errorDocs } from "../src/ErrorDocs.ts"
import { RequestProblem, type RequestProblemCode, requestProblems } from "../src/RequestProblem.ts"

/** The names of the errors that a module exports. */
const classesOf = (module: object): Array<string> =>
  Object.entries(module).flatMap(([name, value]: [string, unknown]) =>
    typeof value === "function" && value.prototype instanceof Error ? [name] : []
  )

describe("errors", () => {
  it("have one row for each class and one class for each row", () => {
    assert.sameMembers(classesOf(WalError), Object.keys(errorTable))
    assert.sameMembers(classesOf({ ...TypedRecord, ...TypedWal }), Object.keys(typedErrors))
  })

  it("of typed logs have a row with their fields", () => {
    const row = errorDocs().split("\n").find((line) => line.startsWith("| `RecordDecodeError` |"))
    const { data, retryable, then, when } = typedErrors.RecordDecodeError
    assert.deepStrictEqual(row?.split(" | ").slice(1, -1), [
      `${when.charAt(0).toUpperCase()}${when.slice(1)}.`,
      "`seq`, `reason`",
      data,
      retryable ? "yes" : "no"
    ])
    assert.include(row, then)
  })

  it("have codes that are unique, in snake case, and statuses of errors", () => {
    const rows = [
      ...Object.values(errorTable),
      ...Object.entries(requestProblems).map(([code, row]) => ({ ...row, code }))
    ]
    assert.strictEqual(new Set(rows.map(({ code }) => code)).size, rows.length)
    for (const { code, httpStatus } of rows) {
      assert.match(code, /^[a-z][a-z_]*[a-z]$/)
      assert.isTrue(httpStatus >= 400 && httpStatus < 600, code)
    }
  })

  it("stand in docs/errors.md as they are in the program", () => {
    const page = readFileSync(new URL("../../../docs/errors.md", import.meta.url), "utf8")
    assert.strictEqual(page, errorDocs(), "run node scripts/write-error-docs.ts")
  })

  it("answer with their fields, and ask to come back where that helps", () => {
    const trimmed = new WalError.Trimmed({ from: 3, trimmedTo: 7 })
    assert.strictEqual(errorStatus(trimmed), 410)
    assert.deepStrictEqual(errorBody(trimmed), {
      code: "trimmed",
      message: trimmed.message,
      data: "durable",
      retryable: false,
      details: { from: 3, trimmedTo: 7 }
    })
    const full = errorResponse(new WalError.BufferFull({ bufferedBytes: 1, limitBytes: 1 }))
    assert.deepStrictEqual([full.status, full.headers["retry-after"]], [503, "1"])
  })

  it("of the server answer with the status of their row", () => {
    for (const code of Object.keys(requestProblems) as Array<RequestProblemCode>) {
      assert.strictEqual(errorStatus(new RequestProblem({ code, message: "" })), requestProblems[code].httpStatus)
    }
  })

  it.effect("a defect is answered without its cause", () =>
    Effect.gen(function*() {
      const response = yield* answering(Effect.die(new Error("secret")))
      assert.strictEqual(response.status, 500)
      assert.notInclude(JSON.stringify(response), "secret")
    }))
})
