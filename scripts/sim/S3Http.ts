/** An answer of HTTP in the simulation: as it is on the wire, before anybody has made something of it. */

/** What is asked, by the SDK's names: the inspection of an answer knows requests by them. */
export type Command =
  | "PutObjectCommand"
  | "GetObjectCommand"
  | "HeadObjectCommand"
  | "ListObjectsV2Command"
  | "DeleteObjectsCommand"
  | "DeleteObjectCommand"
  | "GetBucketLifecycleConfigurationCommand"
  | "GetBucketVersioningCommand"

export interface HttpAnswer {
  readonly status: number
  /** By names in lower case. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array
  /** In short, for the trace. */
  readonly label: string
}

/** The page of a proxy. */
export const page = (status: number): string =>
  `<!DOCTYPE html>\n<html><head><title>${status}</title></head><body><h1>${status}</h1><hr>proxy</body></html>`

export const answer = (
  status: number,
  body: Uint8Array,
  label: string,
  headers: Readonly<Record<string, string>> = {}
): HttpAnswer => ({ status, headers: { "content-length": `${body.byteLength}`, ...headers }, body, label })

/** The same, of a text. */
export const plain = (
  status: number,
  text: string,
  label: string,
  headers: Readonly<Record<string, string>> = {}
): HttpAnswer => answer(status, new TextEncoder().encode(text), label, headers)
