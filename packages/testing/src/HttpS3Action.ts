/**
 * What the HTTP double does with a request instead of answering it properly.
 *
 * Actions compose: `applied(rest)` lets the request take effect first, `gated(gate, rest)` holds it until a `Deferred`
 * opens. So a lost answer is `applied(drop)`, and a slow store is `gated(gate, pass)`. Nothing here sleeps.
 */
import type { Deferred } from "effect"

/** An HTTP answer. */
export interface DoubleAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array
}

/** One object as a listing names it. */
export interface DoubleListEntry {
  readonly key: string
  readonly sizeBytes: number
  readonly modifiedMillis: number
}

/** A page of a listing, before it becomes XML. */
export interface DoubleListPage {
  readonly entries: ReadonlyArray<DoubleListEntry>
  /** The token for the next page; absent on the last. */
  readonly next?: string
}

/** What the double does with a request; the functions below make them. */
export type Action =
  | { readonly _tag: "Pass" }
  | { readonly _tag: "Drop" }
  | { readonly _tag: "Never" }
  | { readonly _tag: "Answer"; readonly answer: DoubleAnswer }
  | { readonly _tag: "Applied"; readonly rest: Action }
  | { readonly _tag: "Gated"; readonly gate: Deferred.Deferred<void>; readonly rest: Action }
  | { readonly _tag: "Ghost"; readonly gate: Deferred.Deferred<void> }
  | { readonly _tag: "StallBody"; readonly bytes: number }
  | { readonly _tag: "CutBody"; readonly bytes: number }
  | { readonly _tag: "RewriteAnswer"; readonly rewrite: (answer: DoubleAnswer) => DoubleAnswer }
  | { readonly _tag: "RewriteList"; readonly rewrite: (page: DoubleListPage) => DoubleListPage }

/** Serve it as a good store would. */
export const pass: Action = { _tag: "Pass" }

/** Close the connection. Alone: before anything is stored; after `applied`: stored, and the answer is lost. */
export const drop: Action = { _tag: "Drop" }

/** Take the request and never answer. Alone nothing is stored. */
export const never: Action = { _tag: "Never" }

/** Let the request take effect, then do the rest. */
export const applied = (rest: Action): Action => ({ _tag: "Applied", rest })

/** Do nothing until the gate opens, then the rest (default: serve it). */
export const gated = (gate: Deferred.Deferred<void>, rest: Action = pass): Action => ({ _tag: "Gated", gate, rest })

/** Store, then drop the connection: the caller never learns that it succeeded. */
export const storeThenDrop: Action = applied(drop)

/** Drop the connection now; the request takes effect when the gate opens, long after its caller gave up. */
export const ghost = (gate: Deferred.Deferred<void>): Action => ({ _tag: "Ghost", gate })

/** Announce the whole body, send its first `bytes`, then fall silent. */
export const stallBody = (bytes: number): Action => ({ _tag: "StallBody", bytes })

/** Announce the whole body, send its first `bytes`, then close the connection. */
export const cutBody = (bytes: number): Action => ({ _tag: "CutBody", bytes })

/** Serve it, with the answer changed on the way. */
export const rewriteAnswer = (rewrite: (answer: DoubleAnswer) => DoubleAnswer): Action => ({
  _tag: "RewriteAnswer",
  rewrite
})

/** Serve a listing with its page changed: unsorted, repeated, cut, without its token. Other requests pass. */
export const rewriteList = (rewrite: (page: DoubleListPage) => DoubleListPage): Action => ({
  _tag: "RewriteList",
  rewrite
})

/** Answer this; nothing is stored (unless inside `applied`). */
export const answer = (
  status: number,
  body = "",
  headers: Readonly<Record<string, string>> = {}
): Action => ({ _tag: "Answer", answer: { status, headers, body: new TextEncoder().encode(body) } })

/** The body of an S3 error. */
export const errorXml = (code: string, extra: Readonly<Record<string, string>> = {}): string => {
  const fields = Object.entries({ Code: code, Message: `double says ${code}`, ...extra })
  return `<?xml version="1.0" encoding="UTF-8"?>\n<Error>${
    fields.map(([name, value]) => `<${name}>${value}</${name}>`).join("")
  }</Error>`
}

/** Answer `status` with an S3 error document; `errorAnswer(200, "InternalError")` is the error inside a success. */
export const errorAnswer = (
  status: number,
  code: string,
  headers: Readonly<Record<string, string>> = {},
  extra: Readonly<Record<string, string>> = {}
): Action => answer(status, errorXml(code, extra), { "content-type": "application/xml", ...headers })
