import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { createHash } from "node:crypto"
import { compose, loadPage } from "../../src/dashboard/PageSource.ts"

const page = "<link rel=\"stylesheet\" href=\"a.css\"><script type=\"module\" src=\"main.js\"></script>"

const files = (more: Readonly<Record<string, string>>) =>
  new Map(Object.entries({ "page.html": page, "a.css": "p { color: red }", ...more }))

/** What stands between the tags of the only such element. */
const between = (html: string, tag: string): string =>
  new RegExp(`<${tag}[^>]*>(.*?)</${tag}>`, "s").exec(html)?.[1] ?? ""

const hash = (text: string): string => `'sha256-${createHash("sha256").update(text).digest("base64")}'`

describe("compose", () => {
  it.effect("makes one script of modules, each run once, what is imported first; names may repeat", () =>
    Effect.gen(function*() {
      const { html } = yield* compose(files({
        "main.js":
          "import { one } from \"./one.js\"\nimport { two, both } from \"./two.js\"\nconst start = 0\nresult.push(one, two(), both, start)\n",
        "one.js": "const start = 1\nexport const one = start\nruns.push(\"one\")\n",
        "two.js":
          "import {\n  one\n} from \"./one.js\"\nconst start = 2\nexport function two() { return start }\nexport const both = one + start\nruns.push(\"two\")\n"
      }))
      const result: Array<number> = []
      const runs: Array<string> = []
      new Function("result", "runs", between(html, "script"))(result, runs)
      assert.deepStrictEqual([result, runs], [[1, 2, 3, 0], ["one", "two"]])
    }))

  it.effect("keeps signs that mean something in a replacement", () =>
    Effect.gen(function*() {
      const { html } = yield* compose(files({ "main.js": "const a = \"$& $1 $'\"\n" }))
      assert.include(html, "$& $1 $'")
    }))

  it.effect("refuses a page with a file missing, or a script that ends its own tag", () =>
    Effect.gen(function*() {
      const missing = yield* Effect.flip(compose(files({ "main.js": "import { a } from \"./gone.js\"\n" })))
      assert.include(missing.message, "gone.js")
      const broken = yield* Effect.flip(compose(files({ "main.js": "const a = \"</script>\"\n" })))
      assert.include(broken.message, "end of its own tag")
      assert.include((yield* Effect.flip(compose(new Map()))).message, "page.html")
    }))
})

describe("the page", () => {
  it.effect("allows exactly its own script and style, names nothing elsewhere, and is not large", () =>
    Effect.gen(function*() {
      const { contentSecurityPolicy, html } = yield* loadPage
      assert.include(contentSecurityPolicy, `script-src ${hash(between(html, "script"))};`)
      assert.include(contentSecurityPolicy, `style-src ${hash(between(html, "style"))};`)
      assert.notInclude(contentSecurityPolicy, "unsafe")
      const elsewhere = [...html.matchAll(/(?:https?:)?\/\/[\w-]+\.[\w.-]+/g)].map(([address]) => address)
      assert.deepStrictEqual([...new Set(elsewhere)], ["http://www.w3.org"])
      assert.notMatch(html, /<[^>]+\son\w+=|<[^>]+\sstyle=|innerHTML|\beval\(/)
      assert.isBelow(Buffer.byteLength(html), 120_000)
    }).pipe(Effect.provide(NodeServices.layer)))
})
