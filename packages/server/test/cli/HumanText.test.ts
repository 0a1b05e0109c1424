import { assert, describe, it } from "@effect/vitest"
import { type Cell, humanText, type Kind, plainText } from "../../src/cli/HumanText.ts"

const cases: ReadonlyArray<readonly [kind: Kind, value: Cell, text: string]> = [
  ["text", "orders", "orders"],
  ["text", undefined, "-"],
  ["count", null, "-"],
  ["flag", true, "yes"],
  ["flag", false, "no"],
  ["id", 1_234_567, "1234567"],
  ["count", 1_234_567, "1,234,567"],
  ["bytes", 0, "0 B"],
  ["bytes", 999, "999 B"],
  ["bytes", 1_048_576, "1.05 MB"],
  ["bytes", Number.POSITIVE_INFINITY, "no bound"],
  ["millis", 0, "0 ms"],
  ["millis", 0.35, "350 µs"],
  ["millis", 12.345, "12.3 ms"],
  ["millis", 999, "999 ms"],
  ["millis", 1_500, "1.5 s"],
  ["millis", 90_000, "1.5 min"],
  ["millis", 86_400_000, "1 d"],
  ["millis", Number.POSITIVE_INFINITY, "no end"],
  ["time", 1_700_000_000_000, "2023-11-14T22:13:20.000Z"],
  ["rate", 16.67, "16.7/s"],
  ["byteRate", 16_700_000, "16.7 MB/s"],
  ["dollars", 1_458, "$1,458.00"],
  ["ratio", 3.417, "3.42 ×"],
  ["share", 0.981, "98.1 %"]
]

describe("HumanText", () => {
  for (const [kind, value, text] of cases) {
    it(`${kind} ${String(value)} reads ${text}`, () => assert.strictEqual(humanText(kind, value), text))
  }

  it("writes control characters out, so that stored text cannot steer a terminal", () => {
    assert.strictEqual(plainText("a\u001b[31mred\u0007\n\u009b"), "a\\u001b[31mred\\u0007\\u000a\\u009b")
    assert.strictEqual(humanText("text", "\u001b[2J"), "\\u001b[2J")
  })
})
