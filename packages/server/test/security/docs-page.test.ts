/** `/docs` in a real browser, under its own policy: it runs, shows every route, and breaks nothing that it may not do. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { chromiumPath, launch, openIn } from "../dashboard/Browser.ts"
import { startServer } from "../support/TestServer.ts"
import { routeTable } from "./RouteTable.ts"

describe.skipIf(chromiumPath === undefined)("the page of the API's document", () => {
  it.live("works under the policy that it is sent with", () =>
    Effect.gen(function*() {
      const { port } = yield* startServer()
      const browser = yield* Effect.acquireRelease(
        Effect.promise(launch),
        (opened) => Effect.promise(() => opened.close())
      )
      const page = yield* openIn(browser, `http://127.0.0.1:${port}/docs`)
      yield* page.there(".opblock-summary")
      const shown = yield* page.evaluate("document.querySelectorAll('.opblock-summary').length")
      assert.strictEqual(shown, routeTable.length)
      // The browser also asks for an icon, and there is none.
      assert.deepStrictEqual(page.complaints.filter((text) => !text.includes("404")), [])
    }), 120_000)
})
