/** The simulated bucket as a server that speaks S3: a request comes in, an answer of HTTP goes out. */
import type { ListRequest } from "../../packages/core/src/store/ObjectStore.ts"
import { errorXml } from "../../packages/testing/src/HttpS3Action.ts"
import type { Bucket } from "../../packages/testing/src/simulation/Bucket.ts"
import type { SeededRandom } from "../../packages/testing/src/simulation/SeededRandom.ts"
import { pageOf, type SimStoreParts } from "../../packages/testing/src/simulation/SimStore.ts"
import { type Dialect, matches, tagOf } from "./S3Dialect.ts"
import { answer, type HttpAnswer, page, plain } from "./S3Http.ts"
import { deleteXml, listXml } from "./S3Xml.ts"

export interface PutParts {
  readonly key: string
  readonly body: Uint8Array
  readonly ifNoneMatch: boolean
  readonly ifMatch: string | undefined
}

const noKey = plain(404, errorXml("NoSuchKey"), "404 NoSuchKey")
const methodRefused: Readonly<Record<"501" | "405" | "400", HttpAnswer>> = {
  "501": plain(501, errorXml("NotImplemented"), "501 NotImplemented"),
  "405": plain(405, "", "405 empty"),
  "400": plain(400, errorXml("MissingContentMD5"), "400 MissingContentMD5")
}

/** What a server has of its walk. */
export type ServerParts = Pick<SimStoreParts, "bucket" | "network" | "random">

export class S3Server {
  private readonly bucket: Bucket
  private readonly dialect: Dialect
  private readonly random: SeededRandom
  private readonly parts: ServerParts

  constructor(parts: ServerParts, dialect: Dialect) {
    this.parts = parts
    this.bucket = parts.bucket
    this.random = parts.random
    this.dialect = dialect
  }

  put({ body, ifMatch, ifNoneMatch, key }: PutParts): HttpAnswer {
    const { bucket, dialect } = this
    const { conditions } = bucket
    const held = bucket.objects.get(key)
    if (conditions === "refused") return methodRefused["501"]
    if (ifMatch !== undefined) {
      if (held === undefined) return dialect.ifMatchMissing === 404 ? noKey : this.preconditionFailed()
      if (!matches(dialect, held, ifMatch) && conditions !== "replace ignored") return this.preconditionFailed()
      bucket.replace(key, body, held.tag)
    } else if ("reason" in bucket.create(key, body) && ifNoneMatch) return this.preconditionFailed()
    const stored = bucket.objects.get(key)
    const document = dialect.putDocument ? "<PutObjectResult></PutObjectResult>" : ""
    return plain(200, document, "200", stored === undefined ? {} : { etag: tagOf(dialect, stored) })
  }

  /** `firstBytes` from a `Range` header. */
  get(key: string, firstBytes: number | undefined): HttpAnswer {
    const { dialect, random } = this
    const held = this.bucket.objects.get(key)
    if (held === undefined) return noKey
    const tag = tagOf(dialect, held)
    const isGzipped = dialect.gzips > 0 && random.chance(dialect.gzips)
    const etag = isGzipped ? tag.replace(/"?$/, "-gzip$&") : tag
    if (firstBytes === undefined || dialect.ignoresRanges) return answer(200, held.body.slice(), "200", { etag })
    return held.body.byteLength === 0
      ? plain(416, errorXml("InvalidRange"), "416 InvalidRange")
      : answer(206, held.body.slice(0, firstBytes), "206", { etag })
  }

  /** Without a body, whatever it is. */
  head(key: string): HttpAnswer {
    const held = this.bucket.objects.get(key)
    return held === undefined ? plain(404, "", "404") : plain(200, "", "200", { etag: tagOf(this.dialect, held) })
  }

  list(asked: ListRequest): HttpAnswer {
    const { next, objects } = pageOf(this.parts, asked)
    const document = listXml({
      objects: objects.map(({ key, modifiedMillis, sizeBytes }) => ({
        key,
        sizeBytes,
        modified: new Date(modifiedMillis ?? 0).toISOString()
      })),
      next,
      isTruncated: next !== undefined
    })
    return plain(200, document, `200 with ${objects.length}`)
  }

  removeMany(keys: ReadonlyArray<string>): HttpAnswer {
    const { batchDelete } = this.dialect
    if (batchDelete !== "done") return methodRefused[batchDelete]
    const failed = keys.flatMap((key) => {
      const code = this.remove(key)
      return code === undefined ? [] : [{ key, code }]
    })
    return plain(200, deleteXml(failed), `200 with ${failed.length} errors`)
  }

  removeOne(key: string): HttpAnswer {
    const code = this.remove(key)
    if (code === undefined) return plain(204, "", "204")
    const status = code === "NoSuchKey" ? 404 : 403
    return plain(status, errorXml(code), `${status} ${code}`)
  }

  /** The code of the error, if there is one. */
  private remove(key: string): string | undefined {
    if (this.parts.network.removalFails) return this.random.pick(["InternalError", "AccessDenied"])
    const isThere = this.bucket.objects.has(key)
    this.bucket.remove(key)
    return isThere || !this.dialect.missesDeleted ? undefined : "NoSuchKey"
  }

  lifecycle(): HttpAnswer {
    return plain(404, errorXml("NoSuchLifecycleConfiguration"), "404 NoSuchLifecycleConfiguration")
  }

  versioning(): HttpAnswer {
    const status = this.dialect.isVersioned ? "<Status>Enabled</Status>" : ""
    return plain(200, `<VersioningConfiguration>${status}</VersioningConfiguration>`, "200")
  }

  private preconditionFailed(): HttpAnswer {
    const form = this.dialect.refusal412
    const body = form === "xml" ? errorXml("PreconditionFailed") : form === "html" ? page(412) : ""
    return plain(412, body, `412 ${form}`)
  }
}
