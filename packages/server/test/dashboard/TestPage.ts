/** Pages for the tests of one file, all in one browser: to start one takes longer than most tests. */
import { Effect } from "effect"
import type { Browser, BrowserContextOptions } from "playwright-core"
import { afterAll } from "vitest"
import { launch, openIn } from "./Browser.ts"

/** How long one test may take on a busy machine; nothing is timed by it, it ends what hangs. */
export const hangMillis = 180_000

let started: Promise<Browser> | undefined

afterAll(() => started?.then((browser) => browser.close()))

/** As `openIn`, in the browser of this file. */
export const openPage = (address: string, options: BrowserContextOptions = {}) =>
  Effect.promise(() => started ??= launch()).pipe(Effect.flatMap((browser) => openIn(browser, address, options)))
