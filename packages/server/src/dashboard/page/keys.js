/** The shortcuts, and the list of them. */
import { byId } from "./dom.js"

const dialog = byId("keys-dialog", HTMLDialogElement)
const open = byId("keys", HTMLButtonElement)
const close = byId("keys-close", HTMLButtonElement)

/** @param {KeyboardEvent} event */
const isTyping = (event) =>
  event.target instanceof HTMLInputElement || event.ctrlKey || event.metaKey || event.altKey ||
  document.querySelector("dialog[open]") !== null

/**
 * @param {Readonly<Record<string, () => void>>} actions by key
 */
export const startKeys = (actions) => {
  open.addEventListener("click", () => dialog.showModal())
  close.addEventListener("click", () => dialog.close())
  document.addEventListener("keydown", (event) => {
    if (isTyping(event)) return
    const action = event.key === "?" ? () => dialog.showModal() : actions[event.key]
    if (action === undefined) return
    event.preventDefault()
    action()
  })
}
