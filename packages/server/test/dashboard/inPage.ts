/** Expressions that look at a page from within, for `OpenPage.evaluate`. */

/** What is wider than the window: the page as a whole, and elements that stick out of it. */
export const overflow = `(() => {
  const isHidden = (element) => element.closest(".skip, .unseen, dialog:not([open])") !== null
  const sticksOut = (element) => {
    const box = element.getBoundingClientRect()
    return box.width > 0 && (box.right > innerWidth + 0.5 || box.left < -0.5)
  }
  const isCut = (element) => {
    for (let parent = element.parentElement; parent !== null; parent = parent.parentElement) {
      if (getComputedStyle(parent).overflowX === "hidden" && !sticksOut(parent)) return true
    }
    return false
  }
  const wide = [...document.body.querySelectorAll("*")]
    .filter((element) => !isHidden(element) && sticksOut(element) && !isCut(element))
    .map((element) => element.outerHTML.slice(0, 120))
  const scrolled = [...document.querySelectorAll(".scroll")].filter((box) => box.scrollWidth > box.clientWidth + 1)
    .map((box) => "scrolls sideways: " + box.outerHTML.slice(0, 80))
  const page = document.documentElement.scrollWidth > innerWidth ? ["page " + document.documentElement.scrollWidth] : []
  return [...page, ...wide, ...scrolled]
})()`

/** Texts whose contrast with what is behind them is below 4.5. */
export const weakContrast = `(() => {
  const parse = (color) => {
    const [red = 0, green = 0, blue = 0, alpha = 1] = (color.match(/[\\d.]+/g) ?? []).map(Number)
    return { rgb: [red, green, blue], alpha }
  }
  const light = (rgb) => {
    const [red, green, blue] = rgb.map((part) => {
      const share = part / 255
      return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4
    })
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
  }
  const behind = (element) => {
    for (let at = element; at !== null; at = at.parentElement) {
      const { alpha, rgb } = parse(getComputedStyle(at).backgroundColor)
      if (alpha === 1) return rgb
      if (alpha > 0) return undefined
    }
    return [255, 255, 255]
  }
  const own = (element) => [...element.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim() !== "")
  const seen = (element) => element.getClientRects().length > 0 && element.closest(".skip, .unseen, :disabled") === null
  return [...document.body.querySelectorAll("*")].filter((element) => own(element) && seen(element)).flatMap((element) => {
    const ground = behind(element)
    const text = element.textContent.trim().slice(0, 40)
    if (ground === undefined) return ["a mixed ground behind " + text]
    const [low, high] = [light(parse(getComputedStyle(element).color).rgb), light(ground)].sort((left, right) => left - right)
    const contrast = (high + 0.05) / (low + 0.05)
    return contrast < 4.5 ? [contrast.toFixed(2) + " " + text] : []
  })
})()`

/** Every control that can be seen, as a name. */
export const controls = `[...document.querySelectorAll("button, a[href], input, summary, [tabindex='0']")]
  .filter((element) => element.getClientRects().length > 0 && !element.disabled && !element.closest("dialog:not([open])"))
  .map((element) => element.id || element.textContent.trim())`

/** The control that has the focus, as a name, and whether that can be seen. */
export const focused = `(() => {
  const element = document.activeElement
  const style = getComputedStyle(element)
  return {
    name: element === document.body ? "" : element.id || element.textContent.trim(),
    isSeen: style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 2
  }
})()`
