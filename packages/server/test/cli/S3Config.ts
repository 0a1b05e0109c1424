/** A configuration of one stream in a bucket of a test. */
import type { DoubleS3Options } from "@effect-wal/testing/HttpS3Double"
import { Effect, FileSystem, Redacted } from "effect"
import { temporary } from "./data/Cli.ts"

/** The stream `orders`; `s3` are further settings of the store, each with a comma and a blank behind it. */
export const s3Config = ({ bucket, credentials, endpoint }: DoubleS3Options, s3 = ""): string =>
  `streams:
  - id: orders
    durability:
      backend:
        type: object_store
        prefix: wal
        node_id: node-0
        stream_id: orders
        s3: { ${s3}bucket: ${bucket}, endpoint: "${endpoint}", access_key_id: ${credentials.accessKeyId}, secret_access_key: ${
    Redacted.value(credentials.secretAccessKey)
  } }
`

/** A directory of its own whose `wal.yaml` has the text. */
export const configuredAs = Effect.fnUntraced(function*(text: string) {
  const cwd = yield* temporary
  const fs = yield* FileSystem.FileSystem
  yield* fs.writeFileString(`${cwd}/wal.yaml`, text)
  return cwd
})
