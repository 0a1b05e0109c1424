/**
 * Lists the tests by the number of the known fault that each of them holds: `[case 12]`, `[predecessor 7]` in its title.
 * `node scripts/list-cases.ts` prints the list and fails where a number that must be there has no test.
 */
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"

const range = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, index) => from + index)

/** What is built so far; disk faults (11, 20), retention by age (17) and 22 of the predecessor come with the local backend. */
const required = {
  case: [...range(1, 10), ...range(12, 16), 18, 19, ...range(21, 27)],
  predecessor: [...range(1, 21), ...range(23, 35)]
} as const

const root = join(import.meta.dirname, "..")
const packages = ["core", "s3", "testing", "server"]
const titled = /(["'`])((?:(?!\1)[^\\\n]|\\.)*\[(?:case|predecessor) \d+\](?:(?!\1)[^\\\n]|\\.)*)\1/g
const numbered = /\[(case|predecessor) (\d+)\]/g

const found = new Map<string, Array<string>>()
for (const name of packages) {
  const folder = join(root, "packages", name, "test")
  for (
    const file of readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((path) => path.endsWith(".test.ts"))
  ) {
    const text = readFileSync(join(folder, file), "utf8")
    for (const [, , title = ""] of text.matchAll(titled)) {
      for (const [, kind = "", number = ""] of title.matchAll(numbered)) {
        const tests = found.get(`${kind} ${number}`) ?? []
        tests.push(`${name}/${file}: ${title.replaceAll(numbered, "").trim()}`)
        found.set(`${kind} ${number}`, tests)
      }
    }
  }
}

const missing: Array<string> = []
for (const [kind, numbers] of Object.entries(required)) {
  for (const number of numbers) {
    const tests = found.get(`${kind} ${number}`) ?? []
    if (tests.length === 0) missing.push(`${kind} ${number}`)
    process.stdout.write(`${kind} ${number}: ${tests.length}\n${tests.map((test) => `  ${test}\n`).join("")}`)
  }
}
process.stdout.write(missing.length === 0 ? "no number without a test\n" : `without a test: ${missing.join(", ")}\n`)
process.exitCode = missing.length === 0 ? 0 : 1
