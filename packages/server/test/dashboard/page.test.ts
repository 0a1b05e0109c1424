/** The dashboard in a real browser: what people see, and how it goes on. */
import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it } from "@effect/vitest"
import { Duration, Effect, Exit, FileSystem, Scope } from "effect"
import { append } from "../support/Client.ts"
import { startProgram } from "../support/Process.ts"
import { startServer } from "../support/TestServer.ts"
import { chromiumPath } from "./Browser.ts"
import { controls, focused } from "./inPage.ts"
import { hangMillis, openPage } from "./TestPage.ts"

const ndjson = "application/x-ndjson"

const addressOf = (port: number) => `http://127.0.0.1:${port}/`

const temporary = Effect.flatMap(FileSystem.FileSystem, (fs) => fs.makeTempDirectoryScoped())

/** What Chromium writes into the console for a server that is not there, whatever a page does about it. */
const isUnreachable = (complaint: string): boolean =>
  /net::ERR_|ERR_INCOMPLETE_CHUNKED|Failed to load resource/.test(complaint)

describe.skipIf(chromiumPath === undefined)("the page", () => {
  it.live(
    "shows an empty log and what to do, then records as they come, without a complaint",
    () =>
      Effect.gen(function*() {
        const { port } = yield* startServer()
        const { complaints, gone, page, shows } = yield* openPage(addressOf(port))
        yield* shows("#connection", "Live")
        yield* shows("#readiness", "Ready")
        yield* shows("#stream-name", "orders")
        yield* shows("#empty-command", `http://127.0.0.1:${port}/v1/streams/orders/records`)
        yield* append(port, ndjson, "1\n2\n3\n")
        yield* shows("#positions", /Durable to3/)
        yield* gone("#empty")
        yield* append(port, ndjson, "4\n")
        yield* shows("#positions", /Durable to4/)
        yield* shows("#tiles", /PUT latency, p99/)
        yield* shows("#tiles", /4 records/)
        yield* shows("#epochs", /Epoch 1being written/)
        assert.strictEqual(yield* Effect.promise(() => page.title()), "orders – effect-wal")
        assert.deepStrictEqual(complaints, [])
      }),
    hangMillis
  )

  it.live("goes on by itself after kill -9 and a restart", () =>
    Effect.gen(function*() {
      const cwd = yield* temporary
      const first = yield* startProgram({ args: ["--port", "0"], cwd })
      yield* first.until("log main open")
      const port = yield* first.portOnce("listens on http://127.0.0.1:")
      const { complaints, gone, page, shows } = yield* openPage(addressOf(port))
      yield* append(port, ndjson, "1\n2\n", "", "main")
      yield* shows("#positions", /Durable to2/)
      first.kill("SIGKILL")
      yield* first.ended
      yield* shows("#lost", "Connection lost")
      yield* shows("#connection", "Reconnecting")
      const second = yield* startProgram({ args: ["--port", String(port)], cwd })
      yield* second.until("log main open")
      yield* second.until("listens on http://127.0.0.1:")
      yield* append(port, ndjson, "3\n", "", "main")
      yield* shows("#connection", "Live")
      yield* shows("#positions", /Durable to3/)
      yield* shows("#stream-facts", "epoch 2")
      yield* shows("#epochs", "took over from an earlier writer")
      yield* gone("#lost")
      assert.deepStrictEqual(complaints.filter((complaint) => !isUnreachable(complaint)), [])
      assert.strictEqual(page.url(), addressOf(port))
    }).pipe(Effect.provide(NodeServices.layer)), hangMillis)

  it.live("tells an outage, what is at risk in it, and that it is over", () =>
    Effect.gen(function*() {
      const { log, port } = yield* startServer({ storeGrace: Duration.zero })
      const { complaints, gone, shows } = yield* openPage(addressOf(port))
      const mend = log.faults.rule(({ key, operation }) =>
        operation === "create" && key.includes("/segments/") ? { _tag: "Fail", reason: "Unavailable" } : undefined
      )
      yield* append(port, ndjson, "1\n2\n3\n", "?ack=accepted")
      yield* shows("#banners", "The store does not answer")
      yield* shows("#banners", /At risk now3 records/)
      yield* shows("#banners", /Failing since/)
      yield* shows("#readiness", "Not ready: store_unavailable")
      yield* shows("#stream-state", "Act now")
      yield* shows("#announcer", "orders: The store does not answer")
      mend()
      yield* shows("#positions", /Durable to3/)
      yield* gone("#banners .banner")
      yield* shows("#readiness", /^Ready$/)
      assert.deepStrictEqual(complaints, [])
    }), hangMillis)

  it.live(
    "tells a log that another writer owns, and one that has died; the table chooses between them",
    () =>
      Effect.gen(function*() {
        const scope = yield* Scope.make()
        const { log, logs, port } = yield* Scope.provide(
          startServer({ streams: ["orders", "payments", "audit"] }),
          scope
        )
        yield* log.takeOver
        yield* append(port, ndjson, "1\n")
        yield* logs["payments"]?.kill ?? Effect.void
        yield* append(port, ndjson, "1\n", "", "payments")
        const { complaints, page, shows } = yield* openPage(addressOf(port))
        yield* shows("#stream-state", "Fenced")
        yield* shows("#banners", "pod-2 owns this log now")
        yield* Effect.promise(() => page.getByRole("button", { name: "payments" }).click())
        yield* shows("#stream-state", "Dead")
        yield* shows("#banners", "exit code 70")
        yield* Effect.promise(() => page.keyboard.press("j"))
        yield* shows("#stream-name", "audit")
        yield* shows("#stream-state", "Healthy")
        assert.strictEqual(page.url(), `${addressOf(port)}#s/audit`)
        yield* Effect.promise(() => page.reload())
        yield* shows("#stream-name", "audit")
        yield* shows("#streams", /ordersFenced/)
        assert.deepStrictEqual(complaints, [])
        yield* Scope.close(scope, Exit.void)
        yield* shows("#lost", "The log of payments had died")
      }),
    hangMillis
  )
})

describe.skipIf(chromiumPath === undefined)("the keyboard", () => {
  it.live("reaches every control, and shows where it is", () =>
    Effect.gen(function*() {
      const { port } = yield* startServer({ streams: ["orders", "payments"] })
      yield* append(port, ndjson, "{\"a\":1}\n")
      const { evaluate, page, shows } = yield* openPage(addressOf(port))
      yield* shows("#tiles", "At risk now")
      yield* Effect.promise(() => page.getByRole("button", { name: "Start" }).click())
      yield* shows("#tail", "{\"a\":1}")
      yield* evaluate("document.activeElement.blur()")
      const found = yield* evaluate(controls)
      const wanted: ReadonlyArray<unknown> = Array.isArray(found) ? found : []
      assert.includeMembers([...wanted], ["theme", "keys", "API", "orders", "payments", "tail-toggle", "tail-clear"])
      const reached = new Set<unknown>()
      for (let step = 0; step < 40; step++) {
        yield* Effect.promise(() => page.keyboard.press("Tab"))
        const { isSeen, name } = Object.assign({ isSeen: false, name: "" }, yield* evaluate(focused))
        if (name !== "") assert.isTrue(isSeen, `the focus on ${name} cannot be seen`)
        reached.add(name)
      }
      assert.deepStrictEqual(wanted.filter((name) => !reached.has(name)), [])
    }), hangMillis)

  it.live("has shortcuts, a list of them, and none while somebody types", () =>
    Effect.gen(function*() {
      const { port } = yield* startServer({ streams: ["orders", "payments"] })
      const { evaluate, gone, page, shows, there } = yield* openPage(addressOf(port))
      const press = (key: string) => Effect.promise(() => page.keyboard.press(key))
      yield* shows("#tiles", "At risk now")
      yield* press("?")
      yield* there("#keys-dialog")
      yield* press("j")
      yield* press("Escape")
      yield* gone("#keys-dialog")
      yield* shows("#stream-name", "orders")
      yield* press("j")
      yield* shows("#stream-name", "payments")
      yield* press("k")
      yield* shows("#stream-name", "orders")
      yield* press("t")
      yield* shows("#tail-toggle", "Stop")
      yield* press("t")
      yield* shows("#tail-toggle", "Start")
      const ground = "getComputedStyle(document.body).backgroundColor"
      yield* press("m")
      yield* shows("#theme", "light")
      const light = yield* evaluate(ground)
      yield* press("m")
      yield* shows("#theme", "dark")
      assert.notStrictEqual(yield* evaluate(ground), light)
      yield* Effect.promise(() => page.reload())
      yield* shows("#theme", "dark")
    }), hangMillis)
})

describe.skipIf(chromiumPath === undefined)("a picture of a page", () => {
  it.live("follows the system's theme until somebody chooses", () =>
    Effect.gen(function*() {
      const { port } = yield* startServer()
      const ground = "getComputedStyle(document.body).backgroundColor"
      const dark = yield* openPage(addressOf(port), { colorScheme: "dark" })
      const light = yield* openPage(addressOf(port), { colorScheme: "light" })
      assert.notStrictEqual(yield* dark.evaluate(ground), yield* light.evaluate(ground))
    }), hangMillis)
})
