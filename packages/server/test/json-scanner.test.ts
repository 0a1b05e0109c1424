import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { errorPosition, maxDepth, scanDocument, scanValue, wordsOf } from "../src/body/JsonScanner.ts"

const parses = (text: string): boolean => {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

const scans = (text: string): boolean => {
  const bytes = Buffer.from(text)
  return scanDocument(bytes, 0, bytes.length) === bytes.length
}

/** Where the scan of a text ends that starts so many bytes into its buffer, by words and byte by byte. */
const bothWays = (text: string, start: number) => {
  const room = new Uint8Array(start + Buffer.byteLength(text) + 8).fill(0x22)
  const bytes = room.subarray(start, start + Buffer.from(room.buffer).write(text, start))
  return [
    scanDocument(bytes, 0, bytes.length, wordsOf(bytes)),
    scanDocument(bytes, 0, bytes.length),
    // A line within a larger text.
    scanDocument(room, start, start + bytes.length, wordsOf(room)) - (bytes.length === 0 ? 0 : start)
  ]
}

const samples = [
  "",
  " ",
  "0",
  "-0",
  "01",
  "-",
  "1.",
  ".1",
  "1.0",
  "1e5",
  "1E+5",
  "1e",
  "1e+",
  "+1",
  "--1",
  "1.5e-10",
  "0x1",
  "NaN",
  "Infinity",
  "true",
  "tru",
  "truex",
  "false",
  "null",
  "nul",
  "True",
  "\"\"",
  "\"a",
  "a\"",
  "\"\\\"\"",
  "\"\\u12aF\"",
  "\"\\u12g4\"",
  "\"\\u12\"",
  "\"\\x\"",
  "\"\\/\\b\\f\\n\\r\\t\\\\\"",
  "\"\t\"",
  "\"\n\"",
  "\"\u007f\"",
  "\"\u2028\"",
  "\"\ud83d\ude00\"",
  "[]",
  "[ ]",
  "[1]",
  "[1,]",
  "[,1]",
  "[1 2]",
  "[1,2",
  "[[],[[]]]",
  "]",
  "[}",
  "{}",
  "{ }",
  "{\"a\":1}",
  "{\"a\":1,}",
  "{,}",
  "{\"a\"}",
  "{\"a\":}",
  "{a:1}",
  "{\"a\":1 \"b\":2}",
  "{\"a\":1,\"b\":[{}]}",
  "{\"a\":1}}",
  "{} {}",
  "1 2",
  " \t\r\n1\r\n",
  "\u00a01",
  "\ufeff1",
  "'a'",
  "{\"a\":1",
  "[\"a\":1]"
]

/** Characters that JSON texts are made of, so that random texts are often nearly right. */
const fragments = [
  "{",
  "}",
  "[",
  "]",
  ",",
  ":",
  "\"",
  "\\",
  "u00e9",
  "a",
  "0",
  "12",
  "-",
  ".",
  "e",
  "+",
  " ",
  "\n",
  "true",
  "null",
  "\"k\":",
  "♡"
]

describe("JsonScanner", () => {
  it("agrees with JSON.parse on the corners of the grammar", () => {
    for (const text of samples) assert.strictEqual(scans(text), parses(text), JSON.stringify(text))
  })

  it.prop("agrees with JSON.parse on random texts", [Schema.Array(Schema.Literals(fragments))], ([parts]) => {
    const text = parts.join("")
    assert.strictEqual(scans(text), parses(text), JSON.stringify(text))
  })

  it.prop("finds the end of every value, whatever follows", [Schema.Json, Schema.String], ([value, rest]) => {
    const text = JSON.stringify(value)
    const bytes = Buffer.from(`${text},${rest}`)
    assert.strictEqual(scanValue(bytes, 0, bytes.length), Buffer.byteLength(text))
  })

  it.prop("refuses every text that is cut short", [Schema.Json], ([value]) => {
    const bytes = Buffer.from(JSON.stringify([value]))
    for (let end = 0; end < bytes.length; end++) assert.isBelow(scanDocument(bytes, 0, end), 0)
  })

  it("passes over long strings by words and stops at the same byte, wherever it is", () => {
    const marks = [
      "",
      "\"",
      "\\\"",
      "\\n",
      "\\u0041",
      "\\x",
      "\\u00g0",
      "\\",
      "\n",
      "\u0000",
      "\u001f",
      "\u007f",
      "ä",
      "♡"
    ]
    for (let start = 0; start < 4; start++) {
      for (const mark of marks) {
        for (let before = 0; before < 70; before++) {
          const text = `"${"a".repeat(before)}${mark}${"b".repeat(40)}${mark}"`
          const [byWords, byBytes, within] = bothWays(text, start)
          assert.strictEqual(byWords, byBytes, `${before} before ${JSON.stringify(mark)} at ${start}`)
          assert.strictEqual(Number(within) < 0, Number(byBytes) < 0)
        }
      }
    }
  })

  it("gets through a string of a million escapes", () => {
    const text = `"${"\\u0041aaaaaaaaaaaaaaaaaaaaaaaaaa".repeat(1_000_000)}"`
    const bytes = Buffer.from(text)
    assert.strictEqual(scanDocument(bytes, 0, bytes.length, wordsOf(bytes)), bytes.length)
  })

  it("names the first byte that cannot stand there", () => {
    const bytes = Buffer.from("[1, 2, x]")
    assert.strictEqual(errorPosition(scanDocument(bytes, 0, bytes.length)), 7)
  })

  it("takes deep nesting without recursion, up to its limit", () => {
    const nested = (depth: number) => "[".repeat(depth) + "]".repeat(depth)
    assert.isTrue(scans(nested(maxDepth)))
    assert.isFalse(scans(nested(maxDepth + 1)))
    assert.isFalse(scans("[".repeat(1_000_000)))
  })
})
