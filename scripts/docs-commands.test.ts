/** Every command of every page: run, or on the list of those that are not, with what can be checked of them. */
import { afterAll, assert, describe, it } from "@effect/vitest"
import { Effect, Semaphore } from "effect"
import { make as makeDouble } from "../packages/testing/src/HttpS3Double.ts"
import { realS3 } from "../packages/testing/src/RealS3.ts"
import { differences } from "./docs/Answers.ts"
import { type Command, commandsOf, isEndless, isServer, plainText } from "./docs/Commands.ts"
import { type Page, readPages } from "./docs/Markdown.ts"
import { mentionProblems, mentionsOf } from "./docs/Mentions.ts"
import { notRun, notRunEntry } from "./docs/NotRun.ts"
import { runPage } from "./docs/Session.ts"
import { makeFolder, removeFolder, rootScripts } from "./docs/Workspace.ts"

const pages = readPages()
const shell = pages.filter(({ blocks }) => blocks.some(({ language }) => language === "sh"))
const commands = shell.flatMap(({ blocks }) => blocks.filter(({ language }) => language === "sh").flatMap(commandsOf))

/** A page starts many processes, one after the other, and waits for its turn. */
const hangMillis = 900_000

/** So many pages at a time: as many processors as the smallest machine has that runs this. */
const turns = Semaphore.makeUnsafe(2)

const command = (text: string): Command => ({ page: "a page", line: 1, text })

const compiled = makeFolder()
afterAll(() => removeFolder(compiled))

const run = (page: Page) =>
  Effect.gen(function*() {
    const folder = yield* Effect.acquireRelease(
      Effect.sync(makeFolder),
      (made) => Effect.sync(() => removeFolder(made))
    )
    const store = realS3(process.env) ?? (yield* makeDouble()).s3Options
    return yield* runPage(page, { folder, compiled, store })
  }).pipe(Effect.scoped, turns.withPermits(1))

/** A page of one block each. */
const pageOf = (...blocks: ReadonlyArray<readonly [info: string, text: string]>): Page => ({
  path: "a page",
  text: "",
  links: [],
  badLabels: [],
  anchors: new Set(),
  codes: [],
  blocks: blocks.map(([info, text], index) => {
    const [language = "", ...marks] = info.split(" ")
    return { page: "a page", line: index + 1, language, marks, text }
  })
})

describe("commands of the pages", { concurrent: true }, () => {
  it.live.each(shell.map((page) => [page.path, page] as const))(
    "%s: each does what the page says",
    ([, page]) => Effect.map(run(page), (problems) => assert.deepStrictEqual(problems, [])),
    hangMillis
  )

  it.live(
    "what fails, answers otherwise or names what is not there is told with its line",
    () =>
      Effect.gen(function*() {
        const problems = yield* run(pageOf(
          ["sh", "npm start\ncurl http://127.0.0.1:8180/v1/streams/none\n"],
          ["sh", "curl http://127.0.0.1:8180/readyz\n"],
          ["json answer", "{ \"ready\": false }\n"],
          ["sh", "kubectl apply -f deploy/none.yaml\nnpx -y pnpm@12.21.0 bench --no-such-flag\n"]
        ))
        assert.strictEqual(problems.length, 5, problems.join("\n"))
        assert.match(problems[0] ?? "", /^a page:2: curl .*stream_not_found/s)
        assert.match(problems[1] ?? "", /^a page:3: ready is true, not false/)
      }),
    hangMillis
  )

  it("are run for the most part, or on the list with a reason", () => {
    assert.isAbove(commands.filter((each) => notRunEntry(each) === undefined).length, 25)
    for (const { reason } of notRun) assert.match(reason, /\w/)
  })

  it("the program behind `npm start` is the one that is run for it", () => {
    const scripts = rootScripts()
    assert.match(scripts["start"] ?? "", / serve$/)
    assert.strictEqual(scripts["serve"], "node packages/server/src/main.ts")
  })

  it("a block is split as a shell would", () => {
    const text = "# first\na \\\n  b\nc |\n  d # why\ncat > f <<'EOF'\nx\nEOF\ne\n"
    const found = commandsOf({ page: "p", line: 1, language: "sh", marks: [], text })
    assert.deepStrictEqual(found.map(({ line }) => line), [2, 4, 6, 9])
    assert.strictEqual(plainText(found[1] ?? command("")), "c | d")
    assert.deepStrictEqual(
      ["npm start", "npm start -- --port 9000", "npm start -- config print", "effect-wal serve", "effect-wal --help"]
        .map((each) => isServer(command(each))),
      [true, true, false, true, false]
    )
    assert.isTrue(isEndless(command("curl -N -H \"accept: text/event-stream\" http://127.0.0.1:8180/")))
  })

  it("an answer is compared but for times and ids", () => {
    assert.deepStrictEqual(differences({ a: [1, { appended_at: 1 }] }, { a: [1, { appended_at: 2 }] }), [])
    assert.strictEqual(differences({ a: 1, b: 2 }, { a: 2, c: 3 }).length, 3)
    assert.strictEqual(differences({ appended_at: 1 }, { appended_at: "1" }).length, 1)
  })
})

describe("`effect-wal` on the pages", () => {
  it.effect("has every subcommand and flag that they name", () =>
    Effect.gen(function*() {
      const mentions = pages.flatMap(mentionsOf)
      assert.isAbove(mentions.length, 3)
      assert.deepStrictEqual((yield* Effect.forEach(mentions, mentionProblems)).flat(), [])
    }))

  it.effect("a subcommand or a flag that it has not is told", () =>
    Effect.gen(function*() {
      const mention = (words: string) => ({ page: "a page", line: 1, words: words.split(" ") })
      assert.isNotEmpty(yield* mentionProblems(mention("no-such-command")))
      assert.isNotEmpty(yield* mentionProblems(mention("serve --no-such-flag")))
      assert.deepStrictEqual(yield* mentionProblems(mention("config print --config wal.yaml")), [])
    }))
})
