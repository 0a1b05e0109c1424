/** The stores that the scenarios run on: how a server is told to use one, and what lies in it. */
import { Effect, Redacted } from "effect"
import { readdirSync, statSync } from "node:fs"
import { join } from "node:path"
import * as S3ObjectStore from "../../packages/s3/src/S3ObjectStore.ts"
import type { RealS3 } from "../../packages/testing/src/RealS3.ts"
import { findRealS3 } from "./Places.ts"
import type { Run } from "./Run.ts"

export type StoreName = "directory" | "local" | "s3"

/** What lies below a prefix. */
export interface Stored {
  /** Objects that are a segment; none in a local log, which keeps them in the files of its journal. */
  readonly segments: number
  /** Of those objects, or of those files. */
  readonly segmentBytes: number
  /** Manifest and all. */
  readonly objects: number
  readonly bytes: number
}

export interface Store {
  readonly name: StoreName
  /** The block of the configuration that chooses it. */
  readonly block: Readonly<Record<string, unknown>>
  /** Counts in the store itself, past the log. */
  readonly count: (prefix: string) => Promise<Stored>
}

/** Objects smaller than this in `segments/` are end markers; a segment with a record is larger. */
const largestMarkerBytes = 300

type Sized = readonly [key: string, sizeBytes: number]

const countAll = (objects: ReadonlyArray<Sized>): Stored => {
  const segments = objects.filter(([key, size]) => key.endsWith(".seg") && size > largestMarkerBytes)
  const bytesOf = (some: ReadonlyArray<Sized>) => some.reduce((sum, [, size]) => sum + size, 0)
  return {
    segments: segments.length,
    segmentBytes: bytesOf(segments),
    objects: objects.length,
    bytes: bytesOf(objects)
  }
}

const filesBelow = (path: string): ReadonlyArray<Sized> =>
  readdirSync(path, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile()).map((file) => {
    const name = join(file.parentPath, file.name)
    return [name, statSync(name).size]
  })

/** Objects as files of a folder of this machine. */
const directoryStore = (path: string): Store => ({
  name: "directory",
  block: { directory: { path } },
  count: async (prefix) => countAll(filesBelow(join(path, prefix)))
})

/** Small, so that a run sees many rotations. */
const journalFileBytes = 1_048_576

/** The local backend: segments in append-only files of a folder of this machine. */
export const localStore = (path: string): Store => ({
  name: "local",
  block: { type: "local", local: { path, max_file_bytes: journalFileBytes } },
  count: async (prefix) => {
    const files = filesBelow(join(path, prefix))
    const journal = files.filter(([name]) => name.endsWith(".journal"))
    return { ...countAll(files), segmentBytes: journal.reduce((sum, [, size]) => sum + size, 0) }
  }
})

const listS3 = (s3: RealS3, prefix: string) =>
  Effect.scoped(Effect.gen(function*() {
    const store = yield* S3ObjectStore.make(s3)
    const objects: Array<Sized> = []
    let page: string | undefined
    do {
      const listed = yield* store.list({ prefix, ...page === undefined ? {} : { page } })
      objects.push(...listed.objects.map(({ key, sizeBytes }): Sized => [key, sizeBytes]))
      page = listed.next
    } while (page !== undefined)
    return objects
  }))

/** The block of the configuration for an S3 server. */
export const s3Block = (s3: RealS3) => ({
  s3: {
    bucket: s3.bucket,
    region: s3.region,
    endpoint: s3.endpoint,
    path_style: true,
    access_key_id: s3.credentials.accessKeyId,
    secret_access_key: Redacted.value(s3.credentials.secretAccessKey)
  }
})

/** Objects of a real S3 server. */
export const s3Store = (s3: RealS3): Store => ({
  name: "s3",
  block: s3Block(s3),
  count: async (prefix) => countAll(await Effect.runPromise(listS3(s3, `${prefix}/`)))
})

/** The named store; those on this machine below `folder`. */
export const openStore = (run: Run, name: string, folder: string): Store => {
  if (name === "directory") return directoryStore(join(folder, "store"))
  if (name === "local") return localStore(join(folder, "store"))
  if (name === "s3") return s3Store(findRealS3(run))
  throw new Error(`--store ${name}: must be directory, local or s3`)
}
