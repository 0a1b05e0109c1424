/** The dashboard: one feed, one model, and what is drawn of it. */
import { showBanner } from "./banners.js"
import { byId, h, setAttribute, setText } from "./dom.js"
import { showEmpty, startEmpty } from "./empty.js"
import { connect } from "./feed.js"
import { time } from "./format.js"
import { startKeys } from "./keys.js"
import { levelSigns } from "./levels.js"
import { emptyModel, neighbour, update } from "./model.js"
import { showOverview } from "./overview.js"
import { showPanels } from "./panels.js"
import { showTail, startTail, stopTail, toggleTail } from "./tail.js"
import { nextTheme, startTheme } from "./theme.js"
import { showTiles } from "./tiles.js"
import { askForToken, hasToken, isAsking, onToken } from "./token.js"

const main = byId("main", HTMLElement)
const lost = byId("lost", HTMLElement)
const waiting = byId("waiting", HTMLElement)
const stream = byId("stream", HTMLElement)
const connectionPill = byId("connection", HTMLElement)
const readiness = byId("readiness", HTMLElement)
const version = byId("version", HTMLElement)

/** More than any snapshot has. */
const mostKept = 64 * 1_048_576

/** There is an event a second. */
const silenceMillis = 10_000

const hashStart = "#s/"

const model = emptyModel()

/** @param {"ok" | "warn" | "page" | "none"} level @param {string} text */
const showConnection = (level, text) => {
  setAttribute(connectionPill, "data-level", level)
  setText(connectionPill, text)
}

const showReadiness = () => {
  const { server } = model
  if (server === undefined) return
  readiness.hidden = false
  setText(version, server.version === "0.0.0" ? "" : server.version)
  const isServing = server.phase === "serving"
  setAttribute(readiness, "data-level", server.ready ? "ok" : isServing ? "page" : "warn")
  const codes = [...new Set(server.reasons.map(({ code }) => code))]
  setText(
    readiness,
    server.ready ? "Ready" : isServing ? `Not ready: ${codes.join(", ")}` : "Shutting down"
  )
}

const show = () => {
  const view = model.streams.get(model.chosen)
  waiting.hidden = view !== undefined
  stream.hidden = view === undefined
  showReadiness()
  showOverview(model, choose)
  if (view === undefined) return
  document.title = `${levelSigns[view.level]}${view.id} – effect-wal`
  showPanels(view)
  showBanner(view, model.at)
  showEmpty(view)
  showTiles(view, model.charts.get(view.id))
  showTail(view)
}

/** @param {string} id */
const choose = (id) => {
  if (!model.streams.has(id) || id === model.chosen) return
  model.chosen = id
  history.replaceState(null, "", `${hashStart}${encodeURIComponent(id)}`)
  show()
}

const chooseByHash = () => {
  const { hash } = location
  if (!hash.startsWith(hashStart)) return
  try {
    choose(decodeURIComponent(hash.slice(hashStart.length)))
  } catch {
    // An address that somebody has mistyped chooses nothing.
  }
}

/** When the connection went, for as long as it is gone. */
let lostAt = 0

const showLost = () => {
  if (lostAt !== 0 || isAsking()) return
  lostAt = Date.now()
  showConnection("page", "Reconnecting")
  if (model.at === 0) return
  main.classList.add("stale")
  lost.hidden = false
  const dead = [...model.streams.values()].filter(({ status }) => status.state === "failed").map(({ id }) => id)
  const again = h("button", { type: "button" }, "Try now")
  again.addEventListener("click", () => feed.retry())
  lost.replaceChildren(
    h("p", { class: "banner-title" }, `Connection lost at ${time(lostAt)}`),
    h(
      "p",
      {},
      "The server does not answer. The page tries again every few seconds and goes on by itself; what is below is from then."
    ),
    dead.length === 0 ? "" : h(
      "p",
      {},
      `The log of ${
        dead.join(", ")
      } had died. The process ends then with exit code 70, and its supervisor starts it again.`
    ),
    again
  )
}

const showFound = () => {
  lostAt = 0
  lost.hidden = true
  main.classList.remove("stale")
  showConnection("ok", "Live")
}

/** Whoever may not read sees nothing of what somebody else has read here. */
const forgetAll = () => {
  Object.assign(model, emptyModel())
  readiness.hidden = true
  lostAt = 0
  lost.hidden = true
  main.classList.remove("stale")
  stopTail()
  show()
}

const feed = connect({
  address: () => "v1/dashboard",
  mostKept,
  silenceMillis,
  opened: () => {},
  event: ({ data, event }) => {
    if (event !== "message") return
    const isFirst = model.at === 0
    update(model, JSON.parse(data))
    showFound()
    if (isFirst) chooseByHash()
    show()
  },
  refused: (status, reason) => {
    forgetAll()
    if (status !== 401 && status !== 403) {
      showConnection("page", "Refused")
      setText(waiting, `The server refused: ${reason}`)
      return
    }
    showConnection("warn", status === 401 ? "Token needed" : "Refused")
    const needed = "A token with the scope read is needed. It stays in this tab and is gone when the tab is closed."
    const unknown = `The server does not know this token. ${needed}`
    askForToken(status === 403 ? `The server refused: ${reason}. ${needed}` : hasToken() ? unknown : needed)
  },
  lost: showLost
})

onToken(() => {
  lostAt = 0
  showConnection("none", "Connecting")
  feed.retry()
})
startTheme()
startEmpty()
startTail()
startKeys({
  j: () => choose(neighbour(model, 1)),
  k: () => choose(neighbour(model, -1)),
  t: toggleTail,
  m: nextTheme
})
addEventListener("hashchange", chooseByHash)
// A machine that wakes up or gets its network back need not wait for the next try.
addEventListener("online", () => {
  if (lostAt !== 0) feed.retry()
})
