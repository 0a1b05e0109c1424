/** In what the store of a walk differs from S3, as real stores and the proxies before them do: drawn once a walk. */
import { createHash } from "node:crypto"
import type { ResolvedS3Options } from "../../packages/s3/src/S3Options.ts"
import type { BucketObject } from "../../packages/testing/src/simulation/Bucket.ts"
import type { SeededRandom } from "../../packages/testing/src/simulation/SeededRandom.ts"

/** How an answer's error is written. */
export type Form = "xml" | "html" | "empty"

export interface Dialect {
  /** Tags are named in quotes. */
  readonly givesQuotes: boolean
  /** How a tag must stand in `If-Match`: as it was given, with the quotes the other way round, or either way. */
  readonly wants: "as-given" | "other" | "either"
  /** One body has one tag, whenever it is written; otherwise each write has its own. */
  readonly hashesTags: boolean
  /** How often a compressing proxy adds its suffix to the tag of a GET. */
  readonly gzips: number
  /** What `If-Match` on a missing key answers. */
  readonly ifMatchMissing: 404 | 412
  readonly refusal412: Form
  readonly ignoresRanges: boolean
  /** What a delete of many keys answers. */
  readonly batchDelete: "done" | "501" | "405" | "400"
  /** A deleted key that is not there is an error of this key. */
  readonly missesDeleted: boolean
  /** A document in the answer to a successful PUT. */
  readonly putDocument: boolean
  readonly isVersioned: boolean
  /** Credentials that can be asked for anew. */
  readonly refreshable: boolean
  /** How the log is told to spell tags. */
  readonly etagQuoting: ResolvedS3Options["etagQuoting"]
}

/** As on S3 itself. */
export const s3Itself: Dialect = {
  givesQuotes: true,
  wants: "as-given",
  hashesTags: false,
  gzips: 0,
  ifMatchMissing: 404,
  refusal412: "xml",
  ignoresRanges: false,
  batchDelete: "done",
  missesDeleted: false,
  putDocument: false,
  isVersioned: false,
  refreshable: false,
  etagQuoting: "auto"
}

export const drawDialect = (random: SeededRandom): Dialect => {
  const givesQuotes = random.chance(0.8)
  const wants = random.chance(0.6) ? "as-given" : random.pick<Dialect["wants"]>(["other", "either"])
  const quoted = wants === "as-given" ? givesQuotes : !givesQuotes
  return {
    givesQuotes,
    wants,
    hashesTags: random.chance(0.5),
    gzips: random.chance(0.2) ? random.pick([0.3, 1]) : 0,
    ifMatchMissing: random.pick([404, 412]),
    refusal412: random.pick(["xml", "xml", "html", "empty"]),
    ignoresRanges: random.chance(0.2),
    batchDelete: random.chance(0.7) ? "done" : random.pick(["501", "405", "400"]),
    missesDeleted: random.chance(0.3),
    putDocument: random.chance(0.2),
    isVersioned: random.chance(0.2),
    refreshable: random.chance(0.5),
    etagQuoting: random.chance(0.7) ? "auto" : quoted ? "quoted" : "unquoted"
  }
}

/** The tag of a version as the store names it. */
export const tagOf = (dialect: Dialect, { body, tag }: BucketObject): string => {
  const bare = dialect.hashesTags
    ? createHash("md5").update(body).digest("hex")
    : tag.slice(1, -1).padStart(32, "0")
  return dialect.givesQuotes ? `"${bare}"` : bare
}

const otherSpelling = (tag: string): string => tag.startsWith("\"") ? tag.slice(1, -1) : `"${tag}"`

/** What stands in `If-Match` names this version. */
export const matches = (dialect: Dialect, object: BucketObject, ifMatch: string): boolean => {
  const tag = tagOf(dialect, object)
  return dialect.wants !== "other" && ifMatch === tag || dialect.wants !== "as-given" && ifMatch === otherSpelling(tag)
}
