import { assert, describe, it } from "@effect/vitest"
import { spawnSync } from "node:child_process"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { readOptions } from "./fuzz/Options.ts"

const run = (...args: ReadonlyArray<string>) => {
  const { status, stderr, stdout } = spawnSync(
    process.execPath,
    [join(import.meta.dirname, "fuzz.ts"), ...args],
    { encoding: "utf8" }
  )
  return { status, stderr, stdout }
}

/** The last line, without what is measured. */
const resultOf = (stdout: string) => {
  const { inputsPerSecond, peakResidentMiB, seconds, ...counted } = JSON.parse(stdout.trimEnd())
  assert.isTrue([inputsPerSecond, peakResidentMiB, seconds].every((value) => typeof value === "number"))
  return counted
}

describe("pnpm fuzz", () => {
  it("has the same inputs and the same result for the same seed", () => {
    const whole = run("--target", "manifest", "--inputs", "300", "--seed", "7", "--json")
    assert.strictEqual(whole.status, 0, whole.stderr)
    const result = resultOf(whole.stdout)
    assert.deepInclude(result, { target: "manifest", inputs: 300, seed: 7, failures: 0 })
    assert.deepStrictEqual(
      resultOf(run("--target", "manifest", "--inputs", "300", "--seed", "7", "--json").stdout),
      result
    )
  })

  it("makes one input again, and checks one of a file", () => {
    const one = run("--target", "manifest", "--seed", "7", "--replay", "5")
    assert.strictEqual(one.status, 0, one.stderr)
    const [hex = "", said] = one.stdout.split("\n")
    assert.match(hex, /^0[01][0-9a-f]+/)
    const folder = mkdtempSync(join(tmpdir(), "fuzz-test-"))
    const path = join(folder, "input.bin")
    writeFileSync(path, Uint8Array.of(0, 0x7b))
    assert.include(run("--target", "manifest", "--file", path).stdout, "7b\nrefused: ManifestCorrupt: it is not JSON")
    rmSync(folder, { recursive: true })
    assert.match(said ?? "", /^(decoded|refused: )/)
  })

  it("refuses what it does not know, with the name of the option", () => {
    assert.throws(() => readOptions(["--target", "nothing"]), /--target must be one of segment, manifest/)
    assert.throws(() => readOptions(["--target", "s3", "--inputs", "-1"]), /--inputs/)
    assert.throws(() => readOptions(["--target", "s3", "--inputs", "1e3"]), /--inputs must be a whole number/)
    assert.throws(() => readOptions(["--target", "all", "--replay", "1"]), /need one --target/)
    assert.throws(() => readOptions(["--target", "s3", "--colour", "red"]), /--colour/)
    assert.strictEqual(readOptions(["--help"]), "help")
    const wrong = run("--target", "nothing")
    assert.deepStrictEqual([wrong.status, wrong.stdout], [2, ""])
  })
})
