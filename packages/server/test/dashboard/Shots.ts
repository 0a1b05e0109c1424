/** Takes the pictures of docs/dashboard.md: a real server on S3 over HTTP, a real browser, nothing drawn by hand. */
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Console, Effect, Fiber } from "effect"
import { mkdirSync, statSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import type { Browser } from "playwright-core"
import { chromiumPath, launch, openIn } from "./Browser.ts"
import { packPng } from "./PackPng.ts"
import { startScene } from "./Scenes.ts"

const widths = [1_440, 360]

/** Larger pictures are slow to read and make the repository heavy. */
const mostBytes = 150_000

const shoot = Effect.fnUntraced(function*(
  browser: Browser,
  address: string,
  path: (width: number) => string,
  options: {
    readonly selector: string
    readonly text: string | RegExp
    readonly dark?: boolean
    readonly tail?: boolean
  }
) {
  for (const width of options.dark === true ? [1_440] : widths) {
    const file = path(width)
    yield* Effect.scoped(Effect.gen(function*() {
      const { page, shows } = yield* openIn(browser, address, {
        viewport: { width, height: width === 360 ? 720 : 900 },
        colorScheme: options.dark === true ? "dark" : "light"
      })
      yield* shows(options.selector, options.text)
      if (options.tail === true) {
        yield* Effect.promise(() => page.locator("#tail-toggle").click())
        yield* shows("#tail .record", /\d/)
      }
      yield* Effect.promise(() => page.evaluate("scrollTo(0, 0)"))
      const picture = yield* Effect.promise(() => page.screenshot({ fullPage: true, animations: "disabled" }))
      writeFileSync(file, packPng(picture))
    }))
    const bytes = statSync(file).size
    if (bytes > mostBytes) return yield* Effect.die(new Error(`${file} has ${bytes} bytes, more than ${mostBytes}`))
    yield* Console.log(`${file}: ${bytes} bytes`)
  }
})

/** Idle, busy and in an outage, on a desk and on a phone, in some two minutes. */
export const takeShots = Effect.fnUntraced(
  function*(folder: string) {
    if (chromiumPath === undefined) return yield* Effect.die(new Error("install chromium: there is none on the PATH"))
    const named = (name: string) => (width: number) => join(folder, `${name}-${width}.png`)
    mkdirSync(folder, { recursive: true })
    const browser = yield* Effect.acquireRelease(Effect.promise(launch), (open) => Effect.promise(() => open.close()))
    const scene = yield* startScene
    yield* shoot(browser, scene.address, named("idle"), { selector: "#empty", text: "No records yet" })
    yield* Console.log("a minute of load")
    yield* scene.load(400, 60)
    const busy = yield* Effect.forkChild(scene.load(200, 60))
    yield* shoot(browser, scene.address, named("busy"), { selector: "#tiles", text: /p50/, tail: true })
    yield* shoot(browser, scene.address, named("busy-dark"), { selector: "#tiles", text: /p50/, dark: true })
    yield* Effect.asVoid(Effect.exit(Effect.timeoutOption(Fiber.join(busy), "1 minute")))
    yield* scene.breakStore
    yield* scene.push(100, 60)
    const pushing = yield* Effect.forkChild(scene.push(300, 60))
    yield* shoot(browser, scene.address, named("outage"), { selector: "#stream-state", text: "Act now" })
    yield* Effect.asVoid(Effect.exit(Effect.timeoutOption(Fiber.join(pushing), "1 minute")))
  },
  Effect.scoped,
  Effect.provide(NodeServices.layer)
)
