/**
 * Elements are made here and nowhere else, and text only ever becomes text: nothing that a record, a store or a server
 * says is parsed as markup.
 */

/** @typedef {string | Node | undefined} Child */

/**
 * The element of the page with this id, which is known to be there and of this kind.
 * @template {Element} E
 * @param {string} id
 * @param {new () => E} kind
 * @returns {E}
 */
export const byId = (id, kind) => {
  const found = document.getElementById(id)
  if (found instanceof kind) return found
  throw new Error(`the page has no ${kind.name} with the id ${id}`)
}

/**
 * @template {keyof HTMLElementTagNameMap} K
 * @param {K} tag
 * @param {Readonly<Record<string, string>>} attributes
 * @param {...Child} children
 * @returns {HTMLElementTagNameMap[K]}
 */
export const h = (tag, attributes, ...children) => {
  const element = document.createElement(tag)
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value)
  for (const child of children) if (child !== undefined) element.append(child)
  return element
}

/**
 * @template {keyof SVGElementTagNameMap} K
 * @param {K} tag
 * @param {Readonly<Record<string, string>>} attributes
 * @param {...Node} children
 * @returns {SVGElementTagNameMap[K]}
 */
export const svg = (tag, attributes, ...children) => {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag)
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value)
  element.append(...children)
  return element
}

/**
 * Touches the page only where something changes, so that a selection and the voice of a screen reader stay.
 * @param {Element} element
 * @param {string} text
 */
export const setText = (element, text) => {
  if (element.textContent !== text) element.textContent = text
}

/**
 * @param {Element} element
 * @param {string} name
 * @param {string} value
 */
export const setAttribute = (element, name, value) => {
  if (element.getAttribute(name) !== value) element.setAttribute(name, value)
}

/** @type {WeakMap<Element, string>} */
const drawn = new WeakMap()

/**
 * Draws the content of an element anew where `what` differs from what it was drawn from.
 * @param {Element} element
 * @param {unknown} what
 * @param {() => ReadonlyArray<Node>} draw
 */
export const redraw = (element, what, draw) => {
  const text = JSON.stringify(what)
  if (drawn.get(element) === text) return
  drawn.set(element, text)
  element.replaceChildren(...draw())
}

/**
 * A list of names and values.
 * @param {string} className
 * @param {ReadonlyArray<readonly [name: string, value: string]>} entries
 */
export const definitions = (className, entries) =>
  h("dl", { class: className }, ...entries.map(([name, value]) => h("div", {}, h("dt", {}, name), h("dd", {}, value))))
