/** A real browser for tests and pictures: the machine's own Chromium, without what it does over the network by itself. */
import { Effect } from "effect"
import { accessSync, constants } from "node:fs"
import { delimiter, join } from "node:path"
import { type Browser, type BrowserContextOptions, chromium, type Page } from "playwright-core"

const names = ["chromium", "chromium-browser", "google-chrome-stable", "google-chrome"]

const isExecutable = (path: string): boolean => {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}

/** Where Chromium is, on the PATH; `undefined` where it is not installed. */
export const chromiumPath: string | undefined = (process.env["PATH"] ?? "").split(delimiter)
  .flatMap((folder) => names.map((name) => join(folder, name)))
  .find(isExecutable)

if (chromiumPath === undefined) {
  process.stderr.write(
    "\nNOT TESTED: the dashboard in a browser; install chromium, as with `apt-get install chromium`\n\n"
  )
}

const quiet = [
  "--no-sandbox",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-default-apps",
  "--disable-domain-reliability",
  "--disable-sync",
  "--disable-gpu",
  "--disable-lcd-text",
  "--metrics-recording-only"
]

/** How long anything in a page may take; nothing is timed by it, it ends what hangs. */
const hangMillis = 60_000

/** Starts the browser. */
export const launch = (): Promise<Browser> => chromium.launch({ executablePath: chromiumPath ?? "", args: quiet })

/** A page of its own, and what its console said. */
export interface OpenPage {
  readonly page: Page
  /** Errors and warnings of the console, exceptions, and broken policies. */
  readonly complaints: ReadonlyArray<string>
  /** The value of an expression of the page. */
  readonly evaluate: (expression: string) => Effect.Effect<unknown>
  /** Completes when there is such an element to be seen; the page's own policy allows no more than to look for one. */
  readonly there: (selector: string) => Effect.Effect<void>
  /** Completes when there is none. */
  readonly gone: (selector: string) => Effect.Effect<void>
  /** Completes when the element shows the text. */
  readonly shows: (selector: string, text: string | RegExp) => Effect.Effect<void>
}

/** Opens an address in a page of its own, with storage of its own; it closes with the scope. */
export const openIn = Effect.fnUntraced(
  function*(browser: Browser, address: string, options: BrowserContextOptions = {}) {
    const context = yield* Effect.acquireRelease(
      Effect.promise(() => browser.newContext({ viewport: { width: 1_440, height: 900 }, ...options })),
      (opened) => Effect.promise(() => opened.close())
    )
    const page = yield* Effect.promise(() => context.newPage())
    page.setDefaultTimeout(hangMillis)
    const complaints: Array<string> = []
    page.on("console", (message) => {
      if (message.type() === "error" || message.type() === "warning") complaints.push(message.text())
    })
    page.on("pageerror", (error) => complaints.push(String(error)))
    yield* Effect.promise(() => page.goto(address))
    const found: OpenPage = {
      page,
      complaints,
      evaluate: (expression) => Effect.promise(() => page.evaluate<unknown>(expression)),
      there: (selector) => Effect.promise(() => page.locator(selector).first().waitFor()),
      gone: (selector) => Effect.promise(() => page.locator(selector).first().waitFor({ state: "hidden" })),
      shows: (selector, text) => Effect.promise(() => page.locator(selector, { hasText: text }).first().waitFor())
    }
    return found
  }
)
