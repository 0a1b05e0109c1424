/** The token of this tab: kept for its session, sent in a header, never part of an address. */
import { byId, setText } from "./dom.js"

const storageKey = "effect-wal-token"

const dialog = byId("token-dialog", HTMLDialogElement)
const form = byId("token-form", HTMLFormElement)
const input = byId("token", HTMLInputElement)
const why = byId("token-why", HTMLParagraphElement)
const forget = byId("forget", HTMLButtonElement)

/** A browser may forbid storage; then the token lives as long as the page. */
let token = ""
try {
  token = sessionStorage.getItem(storageKey) ?? ""
} catch {
  token = ""
}

/** @param {string} value */
const keep = (value) => {
  token = value
  forget.hidden = value === ""
  try {
    if (value === "") sessionStorage.removeItem(storageKey)
    else sessionStorage.setItem(storageKey, value)
  } catch {
    forget.hidden = value === ""
  }
}
keep(token)

/** The headers that say who asks. */
export const authorization = () => token === "" ? {} : { authorization: `Bearer ${token}` }

/** Whether there is one. */
export const hasToken = () => token !== ""

/** Whether somebody is being asked. */
export const isAsking = () => dialog.open

/**
 * Asks for a token, once however often it is called.
 * @param {string} reason
 */
export const askForToken = (reason) => {
  setText(why, reason)
  input.value = ""
  if (!dialog.open) dialog.showModal()
}

/**
 * @param {() => void} changed called with a new token in place, or without one
 */
export const onToken = (changed) => {
  form.addEventListener("submit", (event) => {
    event.preventDefault()
    keep(input.value.trim())
    dialog.close()
    changed()
  })
  // Without a token there is nothing to go back to.
  dialog.addEventListener("cancel", (event) => event.preventDefault())
  forget.addEventListener("click", () => {
    keep("")
    changed()
  })
}
