/**
 * How a tag is written in `If-Match`.
 *
 * The standard wants the tag exactly as the store gave it, quotes included. Some stores (DigitalOcean Spaces, Ceph up
 * to release 18) give a quoted tag and then accept it only without the quotes. Nothing but the quotes is ever touched.
 */
import type { Tag } from "@effect-wal/core/store/ObjectStore"

/** `as-given`: byte for byte; `other`: quotes removed where there are some, added where there are none. */
export type Spelling = "as-given" | "other" | "quoted" | "unquoted"

const isQuoted = (tag: Tag): boolean => tag.length >= 2 && tag.startsWith("\"") && tag.endsWith("\"")

const withoutQuotes = (tag: Tag): Tag => isQuoted(tag) ? tag.slice(1, -1) : tag

const withQuotes = (tag: Tag): Tag => isQuoted(tag) ? tag : `"${tag}"`

/** The tag as it goes into the header. */
export const spell = (tag: Tag, spelling: Spelling): Tag => {
  switch (spelling) {
    case "as-given":
      return tag
    case "other":
      return isQuoted(tag) ? withoutQuotes(tag) : withQuotes(tag)
    case "quoted":
      return withQuotes(tag)
    case "unquoted":
      return withoutQuotes(tag)
  }
}

/** A weak tag names "about the same content"; `If-Match` never matches one (RFC 9110, section 13.1.1). */
export const isWeak = (tag: Tag): boolean => tag.startsWith("W/")

const encodingSuffix = /-(gzip|br|zstd|deflate)(?="?$)/

/**
 * The tag under a suffix that a compressing proxy may have put on it in a GET; `undefined` when there is none. Only a
 * guess: it holds when a HEAD answers exactly this.
 */
export const withoutEncodingSuffix = (tag: Tag): Tag | undefined =>
  encodingSuffix.test(tag) ? tag.replace(encodingSuffix, "") : undefined
