/**
 * A connection to a stream of events that comes back by itself: after an error, an end or a silence it tries again, first
 * soon and then every few seconds.
 */
import { eventReader } from "./events.js"
import { authorization } from "./token.js"

/** @import { ServerEvent } from "./events.js" */

/**
 * @typedef {object} Connection
 * @property {() => void} retry tries now, with the token as it is now
 * @property {() => void} stop
 */

/**
 * @typedef {object} FeedOptions
 * @property {() => string} address asked for each try
 * @property {number} mostKept bytes of a line that are kept
 * @property {number} silenceMillis a connection that says nothing for so long is dead
 * @property {() => void} opened
 * @property {(event: ServerEvent) => void} event
 * @property {(status: number, reason: string) => void} refused the server answered no; it is not asked again
 * @property {(retryAt: number) => void} lost the next try is at this time, epoch milliseconds
 */

const firstPause = 500
const longestPause = 5_000

/** @param {Response} response */
const reasonOf = async (response) => {
  try {
    const { error } = await response.json()
    return typeof error?.message === "string" ? error.message : response.statusText
  } catch {
    return response.statusText
  }
}

/** Answers that another try does not change. */
const isFinal = (/** @type {number} */ status) => status >= 400 && status < 500 && status !== 408 && status !== 429

/**
 * @param {FeedOptions} options
 * @returns {Connection}
 */
export const connect = (options) => {
  let current = new AbortController()
  let pause = firstPause
  let timer = 0
  let watchdog = 0

  const startWatchdog = (/** @type {AbortController} */ attempt) => {
    clearTimeout(watchdog)
    watchdog = setTimeout(() => attempt.abort(), options.silenceMillis)
  }

  const again = () => {
    clearTimeout(watchdog)
    clearTimeout(timer)
    const wait = pause * (0.75 + Math.random() / 2)
    pause = Math.min(longestPause, pause * 2)
    options.lost(Date.now() + wait)
    timer = setTimeout(() => void attempt(), wait)
  }

  /**
   * @param {ReadableStream<Uint8Array>} body
   * @param {AbortController} controller
   */
  const read = async (body, controller) => {
    const take = eventReader(options.mostKept, (event) => {
      pause = firstPause
      options.event(event)
    })
    const reader = body.getReader()
    for (;;) {
      const { done, value } = await reader.read()
      if (done || controller !== current) return
      startWatchdog(controller)
      take(value)
    }
  }

  const attempt = async () => {
    const controller = new AbortController()
    current = controller
    startWatchdog(controller)
    try {
      const response = await fetch(options.address(), {
        headers: { accept: "text/event-stream", ...authorization() },
        cache: "no-store",
        credentials: "omit",
        signal: controller.signal
      })
      if (controller !== current) return
      if (isFinal(response.status)) {
        clearTimeout(watchdog)
        options.refused(response.status, await reasonOf(response))
        return
      }
      if (response.ok && response.body !== null) {
        options.opened()
        await read(response.body, controller)
      }
    } catch {
      // Not reachable, cut off, or given up: all of them are tried again below.
    }
    if (controller === current) again()
  }

  const stop = () => {
    clearTimeout(timer)
    clearTimeout(watchdog)
    const before = current
    current = new AbortController()
    before.abort()
  }

  const retry = () => {
    stop()
    pause = firstPause
    void attempt()
  }

  void attempt()
  return { retry, stop }
}
