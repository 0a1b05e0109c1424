import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { substitute } from "../../src/config/Substitution.ts"
import type { Environment } from "../../src/config/Substitution.ts"

const one = (text: string, env: Environment = {}): unknown => substitute(text, env, []).tree
const rules = (text: string, env: Environment = {}): ReadonlyArray<string> =>
  substitute({ a: text }, env, []).problems.map((problem) => `${problem.path.join(".")}: ${problem.rule}`)

describe("Substitution", () => {
  it("[case 22] puts variables and defaults in", () => {
    assert.strictEqual(one("${A}", { A: "x" }), "x")
    assert.strictEqual(one("pre-${A}-${B}", { A: "x", B: "y" }), "pre-x-y")
    assert.strictEqual(one("${X:-dflt}"), "dflt")
    assert.strictEqual(one("${X:-dflt}", { X: "  " }), "dflt")
    assert.strictEqual(one("${X:-dflt}", { X: "set" }), "set")
    assert.strictEqual(one("${X:-a:-b}"), "a:-b")
  })

  it("[case 22] $5 is itself and $${X} is a literal ${X}", () => {
    assert.strictEqual(one("$5"), "$5")
    assert.strictEqual(one("$$5 $HOME"), "$$5 $HOME")
    assert.strictEqual(one("$${X}", { X: "no" }), "${X}")
    assert.strictEqual(one("$${X}-${X}", { X: "yes" }), "${X}-yes")
  })

  it("[case 22] [predecessor 11] unset, blank and unresolved are errors with path and name", () => {
    assert.deepStrictEqual(rules("${WAL_NODE_ID}"), ["a: needs the variable WAL_NODE_ID, which is not set"])
    assert.deepStrictEqual(rules("${WAL_NODE_ID}", { WAL_NODE_ID: "" }), [
      "a: needs the variable WAL_NODE_ID, which is blank"
    ])
    assert.deepStrictEqual(rules("${WAL_NODE_ID}", { WAL_NODE_ID: " \n" }), [
      "a: needs the variable WAL_NODE_ID, which is blank"
    ])
    assert.deepStrictEqual(rules("${X:-}"), ["a: needs the variable X: it is not set, and its default is blank"])
    for (const text of ["${", "${X", "${}", "${1X}", "${X-y}", "${A:-${B}}", "${toString.x}"]) {
      assert.strictEqual(rules(text, { X: "x", A: "a", B: "b" }).length, 1, text)
    }
    assert.deepStrictEqual(rules("${toString}"), ["a: needs the variable toString, which is not set"])
  })

  it("what is put in is text and is not looked at again", () => {
    assert.deepStrictEqual(substitute({ a: "${A}" }, { A: "x: y" }, []).tree, { a: "x: y" })
    assert.strictEqual(one("${A}", { A: "one\ntwo" }), "one\ntwo")
    assert.strictEqual(one("${A}", { A: "${B}", B: "no" }), "${B}")
    assert.strictEqual(one("${A}", { A: "null" }), "null")
    assert.strictEqual(one("${A}", { A: "$&" }), "$&")
  })

  it("only values are looked at, in blocks and in lists", () => {
    const { tree, variables } = substitute({ "${K}": ["${A}", 5, null, true] }, { A: "x", K: "no" }, [])
    assert.deepStrictEqual(tree, { "${K}": ["x", 5, null, true] })
    assert.deepStrictEqual([...variables], [["${K}[0]", ["A"]]])
  })

  it("a variable with the name of a secret is not in what may be shown", () => {
    const env = {
      AWS_SECRET_ACCESS_KEY: "hunter2",
      api_token: "t0p-s3cret",
      HOST: "h",
      DB_PASSWORD: "p",
      CREDENTIALS: "c"
    }
    const { conceal, concealed, shown, tree } = substitute(
      {
        a: "${AWS_SECRET_ACCESS_KEY}",
        b: ["x", "${HOST}-${api_token}-$${Y}"],
        c: { d: "${HOST}", e: "${DB_PASSWORD}${CREDENTIALS}${NO_KEY:-from the file}" }
      },
      env,
      []
    )
    assert.deepStrictEqual(tree, {
      a: "hunter2",
      b: ["x", "h-t0p-s3cret-${Y}"],
      c: { d: "h", e: "pcfrom the file" }
    })
    assert.deepStrictEqual(shown, {
      a: "${AWS_SECRET_ACCESS_KEY}",
      b: ["x", "h-${api_token}-${Y}"],
      c: { d: "h", e: "${DB_PASSWORD}${CREDENTIALS}${NO_KEY}" }
    })
    assert.sameMembers([...concealed], ["a", "b[1]", "c.e"])
    assert.strictEqual(conceal("no hunter2 and no t0p-s3cret"), "no ${AWS_SECRET_ACCESS_KEY} and no ${api_token}")
    // Too short to be a secret: the words around it stay readable.
    assert.strictEqual(conceal("a copy"), "a copy")
  })

  it.effect.prop("text without ${ is left alone", { text: Schema.String }, ({ text }) =>
    Effect.sync(() => {
      if (!text.includes("${")) assert.strictEqual(one(text), text)
    }))

  it.effect.prop(
    "any value of a variable comes out as it is",
    { value: Schema.String },
    ({ value }) =>
      Effect.sync(() => {
        if (value.trim() !== "") assert.strictEqual(one("${A}", { A: value }), value)
      })
  )
})
