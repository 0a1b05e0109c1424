/**
 * What stands in the body of an answer whose status is a success.
 *
 * S3 sends the status before the work is done and can only put the failure into the body then; a proxy in between can
 * send a page of its own. Both must not be taken for success.
 */

/** The name of a document's root element; `undefined` for an empty body, "" for one that is not XML. */
export const rootElement = (text: string): string | undefined => {
  const rest = text.replace(/^\uFEFF?\s*(<\?xml[^>]*\?>)?\s*/, "")
  if (rest === "") return undefined
  return /^<([A-Za-z_][\w.:-]*)/.exec(rest)?.[1]?.replace(/^.*:/, "") ?? ""
}

const element = (text: string, name: string): string | undefined =>
  new RegExp(`<${name}>([^<]*)</${name}>`).exec(text)?.[1]?.trim()

/** An error found in a successful answer. */
export interface DocumentProblem {
  readonly code: string
  readonly message: string
}

/**
 * What is wrong with the body of a 2xx; `undefined` when nothing is. `expected` is the root element that the answer
 * must have, or `undefined` where the body has nothing to say: then a page there was written by somebody in between, who
 * may have stored nothing.
 */
export const documentProblem = (text: string, expected: string | undefined): DocumentProblem | undefined => {
  const root = rootElement(text)
  if (root === "Error" || text.trimEnd().endsWith("</Error>") && root !== expected) {
    return { code: element(text, "Code") ?? "Error", message: element(text, "Message") ?? "no message" }
  }
  if (expected !== undefined && root !== expected) {
    const found = root === undefined ? "an empty body" : root === "" ? "no XML" : `<${root}>`
    return { code: "UnexpectedDocument", message: `expected <${expected}>, found ${found}` }
  }
  if (expected === undefined && root !== undefined && !root.endsWith("Result")) {
    return { code: "UnexpectedDocument", message: `expected no body, found ${root === "" ? "no XML" : `<${root}>`}` }
  }
  return undefined
}
