/** The switch between the system's theme, light and dark. */
import { byId, setText } from "./dom.js"

const storageKey = "effect-wal-theme"
const themes = ["system", "light", "dark"]
const button = byId("theme", HTMLButtonElement)

const stored = () => {
  try {
    return localStorage.getItem(storageKey) ?? "system"
  } catch {
    return "system"
  }
}

let theme = themes.includes(stored()) ? stored() : "system"

const show = () => {
  document.documentElement.dataset["theme"] = theme
  setText(button, `Theme: ${theme}`)
}

/** On to the next theme, which this browser remembers where it may. */
export const nextTheme = () => {
  theme = themes[(themes.indexOf(theme) + 1) % themes.length] ?? "system"
  try {
    localStorage.setItem(storageKey, theme)
  } catch {
    // It holds for this page then.
  }
  show()
}

/** Shows the theme, and lets the button change it. */
export const startTheme = () => {
  show()
  button.addEventListener("click", nextTheme)
}
