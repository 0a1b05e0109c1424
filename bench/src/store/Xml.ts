/** The few documents of S3 that the store of the benchmarks answers. */

const escaped = (text: string): string => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;")

export interface ListedKey {
  readonly key: string
  readonly bytes: number
}

export const listDocument = (
  page: { readonly prefix: string; readonly keys: ReadonlyArray<ListedKey>; readonly next: string | undefined }
): string => {
  const contents = page.keys.map(({ bytes, key }) =>
    `<Contents><Key>${escaped(key)}</Key><Size>${bytes}</Size>` +
    "<LastModified>2026-01-01T00:00:00.000Z</LastModified></Contents>"
  )
  const next = page.next === undefined ? "" : `<NextContinuationToken>${escaped(page.next)}</NextContinuationToken>`
  return `<?xml version="1.0"?><ListBucketResult><Prefix>${
    escaped(page.prefix)
  }</Prefix><KeyCount>${page.keys.length}` +
    `</KeyCount><IsTruncated>${page.next !== undefined}</IsTruncated>${contents.join("")}${next}</ListBucketResult>`
}

export const errorDocument = (code: string): string =>
  `<?xml version="1.0"?><Error><Code>${code}</Code><Message>${code}</Message></Error>`

export const deletedDocument = "<?xml version=\"1.0\"?><DeleteResult></DeleteResult>"

/** Keys of a request to delete several. */
export const keysToDelete = (document: string): ReadonlyArray<string> =>
  [...document.matchAll(/<Key>([^<]*)<\/Key>/g)].map(([, key]) =>
    (key ?? "").replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&amp;", "&")
  )
