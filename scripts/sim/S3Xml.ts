/** The documents of S3: written as a store writes them, read as strictly as the SDK reads them. */
import type { DeleteDocument, ListDocument } from "../../packages/s3/src/S3Result.ts"

const declaration = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
const namespace = "xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\""

/** What stands in for a character in a document. */
const escapes: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  "\"": "&quot;",
  "'": "&#39;",
  // Nobody has to escape this one, and a store may.
  "/": "&#x2F;"
}

const escapeXml = (text: string): string => text.replace(/[&<>"'/]/g, (found) => escapes[found] ?? found)

const named: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: "\"", apos: "'" }

const unescapeXml = (text: string): string =>
  text.replace(
    /&(?:#x([0-9a-fA-F]+)|#(\d+)|(\w+));/g,
    (whole, hex?: string, decimal?: string, name?: string) =>
      hex !== undefined ?
        String.fromCodePoint(Number.parseInt(hex, 16)) :
        decimal !== undefined ?
        String.fromCodePoint(Number(decimal)) :
        named[name ?? ""] ?? whole
  )

export const listXml = (
  { objects, next, isTruncated }: {
    readonly objects: ReadonlyArray<{ readonly key: string; readonly sizeBytes: number; readonly modified: string }>
    readonly next: string | undefined
    readonly isTruncated: boolean
  }
): string => {
  const contents = objects.map(({ key, modified, sizeBytes }) =>
    `<Contents><Key>${escapeXml(key)}</Key><LastModified>${modified}</LastModified><Size>${sizeBytes}</Size></Contents>`
  )
  const token = next === undefined ? "" : `<NextContinuationToken>${escapeXml(next)}</NextContinuationToken>`
  return `${declaration}<ListBucketResult ${namespace}><Name>bucket</Name><KeyCount>${objects.length}</KeyCount>` +
    `<IsTruncated>${isTruncated}</IsTruncated>${token}${contents.join("")}</ListBucketResult>`
}

export const deleteXml = (failed: ReadonlyArray<{ readonly key: string; readonly code: string }>): string =>
  `${declaration}<DeleteResult ${namespace}>${
    failed.map(({ code, key }) =>
      `<Error><Key>${escapeXml(key)}</Key><Code>${code}</Code><Message>not now</Message></Error>`
    ).join("")
  }</DeleteResult>`

interface Element {
  readonly name: string
  text: string
  readonly children: Array<Element>
}

/** Tags, what is no element, and text. */
const parts = /<(\/?)([A-Za-z_][\w.:-]*)[^<>]*?(\/?)>|<[?!][^<>]*>|([^<]+)/y

/** The root element; `undefined` where the document does not end as it began. */
export const parseXml = (document: string): Element | undefined => {
  const top: Element = { name: "", text: "", children: [] }
  const open = [top]
  let at = 0
  while (at < document.length) {
    parts.lastIndex = at
    const found = parts.exec(document)
    const current = open.at(-1)
    if (found === null || current === undefined) return undefined
    at = parts.lastIndex
    const [, ending, name, isEmpty, text] = found
    if (text !== undefined) current.text += unescapeXml(text)
    else if (ending === "/") {
      if (current.name !== name) return undefined
      open.pop()
    } else if (name !== undefined) {
      const element: Element = { name, text: "", children: [] }
      current.children.push(element)
      if (isEmpty === "") open.push(element)
    }
  }
  return open.length === 1 ? top.children[0] : undefined
}

const textOf = (element: Element, name: string): string | undefined =>
  element.children.find((child) => child.name === name)?.text

const all = (element: Element, name: string): ReadonlyArray<Element> =>
  element.children.filter((child) => child.name === name)

export const listDocument = (root: Element): ListDocument => {
  const modifiedOf = (object: Element) => new Date(textOf(object, "LastModified") ?? "")
  return {
    Contents: all(root, "Contents").map((object) => ({
      Key: textOf(object, "Key"),
      Size: Number(textOf(object, "Size")),
      LastModified: modifiedOf(object)
    })),
    IsTruncated: textOf(root, "IsTruncated") === "true",
    NextContinuationToken: textOf(root, "NextContinuationToken")
  }
}

export const deleteDocument = (root: Element): DeleteDocument => ({
  Errors: all(root, "Error").map((error) => ({ Key: textOf(error, "Key"), Code: textOf(error, "Code") }))
})
