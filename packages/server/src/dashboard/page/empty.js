/** What to do with a log that holds nothing yet. */
import { byId, setText } from "./dom.js"
import { hasToken } from "./token.js"

/** @import { StreamView } from "../Snapshot.ts" */

const section = byId("empty", HTMLElement)
const command = byId("empty-command", HTMLElement)
const copy = byId("empty-copy", HTMLButtonElement)

/** @param {string} id */
const commandFor = (id) => {
  const token = hasToken() ? "-H \"authorization: Bearer $TOKEN\" " : ""
  const address = new URL(`v1/streams/${encodeURIComponent(id)}/records`, location.href)
  address.hash = ""
  return `curl ${token}-H "content-type: application/x-ndjson" --data-binary '{"hello":"world"}' ${address.href}`
}

/** @param {StreamView} view */
export const showEmpty = ({ id, status }) => {
  section.hidden = status.state !== "open" || status.last_accepted !== 0
  if (!section.hidden) setText(command, commandFor(id))
}

/** Lets the button copy the command, where the browser allows it. */
export const startEmpty = () => {
  // Only pages of https and of this machine may write to the clipboard.
  copy.hidden = !isSecureContext
  copy.addEventListener("click", () => {
    void navigator.clipboard.writeText(command.textContent ?? "").then(
      () => setText(copy, "Copied"),
      () => setText(copy, "Select the text to copy it")
    )
  })
}
