/** What the dashboard looks like on a phone and on a desk, light and dark: nothing sticks out, everything can be read. */
import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { chromiumPath, type OpenPage } from "./Browser.ts"
import { overflow, weakContrast } from "./inPage.ts"
import { startScene } from "./Scenes.ts"
import { hangMillis, openPage } from "./TestPage.ts"

const widths = [360, 768, 1_440]
const schemes = ["light", "dark"] as const

/** Looks at the page as it is in every width and theme. */
const check = Effect.fnUntraced(function*({ evaluate, page }: OpenPage, state: string) {
  for (const colorScheme of schemes) {
    yield* Effect.promise(() => page.emulateMedia({ colorScheme }))
    for (const width of widths) {
      yield* Effect.promise(() => page.setViewportSize({ width, height: 800 }))
      const place = `${state}, ${width} px, ${colorScheme}`
      assert.deepStrictEqual(yield* evaluate(overflow), [], place)
      assert.deepStrictEqual(yield* evaluate(weakContrast), [], place)
    }
  }
})

describe.skipIf(chromiumPath === undefined)("the layout", () => {
  it.live(
    "fits and can be read: idle, busy with an open tail and the list of shortcuts, and in an outage",
    () =>
      Effect.gen(function*() {
        const scene = yield* startScene
        const opened = yield* openPage(scene.address)
        const { complaints, gone, page, shows, there } = opened
        yield* shows("#empty", "No records yet")
        yield* check(opened, "idle")
        yield* scene.load(12, 0)
        yield* shows("#positions", /Durable to[1-9]/)
        yield* Effect.promise(() => page.keyboard.press("t"))
        yield* Effect.promise(() => page.locator("#tail summary").first().click())
        yield* shows("#tail .record-more", "JSON")
        yield* check(opened, "busy")
        yield* Effect.promise(() => page.keyboard.press("?"))
        yield* there("#keys-dialog")
        yield* check(opened, "shortcuts")
        yield* Effect.promise(() => page.keyboard.press("Escape"))
        yield* scene.breakStore
        yield* scene.push(10, 0)
        yield* shows("#banners", "The store does not answer")
        yield* check(opened, "outage")
        yield* shows("#stream-state", "Act now")
        yield* check(opened, "outage beyond store_grace")
        yield* scene.mendStore
        yield* gone("#banners .banner")
        yield* check(opened, "after it")
        assert.deepStrictEqual(complaints, [])
        // The looks themselves see what is wrong.
        yield* opened.evaluate(
          "Object.assign(document.getElementById('stream-name').style, { minWidth: '3000px', color: '#444444' })"
        )
        assert.notDeepEqual(yield* opened.evaluate(overflow), [])
        assert.notDeepEqual(yield* opened.evaluate(weakContrast), [])
      }).pipe(Effect.provide(NodeServices.layer)),
    hangMillis
  )
})
