/**
 * A real S3 server for integration tests, as the environment names it.
 *
 * `S3_ENDPOINT`, `AWS_ACCESS_KEY_ID`, `AWS_SECRET_ACCESS_KEY` and `S3_BUCKET` together name one; `AWS_REGION` is
 * `us-east-1` unless given. `scripts/radosgw.sh` prints exactly these. Where one of them is missing there is none, and
 * the tests that need one are left out (`scripts/test-setup.ts` says so).
 */
import { Redacted } from "effect"

/** Options for `S3ObjectStore.layer`. */
export interface RealS3 {
  readonly endpoint: string
  readonly region: string
  readonly bucket: string
  readonly forcePathStyle: true
  readonly credentials: { readonly accessKeyId: string; readonly secretAccessKey: Redacted.Redacted }
}

/** The variables that must all be set. */
export const realS3Variables = ["S3_ENDPOINT", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "S3_BUCKET"] as const

/** The server that `environment` names; `undefined` when a variable is missing or blank. */
export const realS3 = (environment: Readonly<Record<string, string | undefined>>): RealS3 | undefined => {
  const [endpoint, accessKeyId, secretAccessKey, bucket] = realS3Variables.map((name) => environment[name]?.trim())
  if (!endpoint || !accessKeyId || !secretAccessKey || !bucket) return undefined
  return {
    endpoint,
    region: environment["AWS_REGION"]?.trim() || "us-east-1",
    bucket,
    forcePathStyle: true,
    credentials: { accessKeyId, secretAccessKey: Redacted.make(secretAccessKey) }
  }
}

/** What a test run without a server has to say; `tests` are the files that it leaves out. */
export const leftOutMessage = (tests: ReadonlyArray<string>): string => {
  const line = "=".repeat(100)
  return [
    "",
    line,
    "NOT TESTED: no real S3 server was found, so these tests were left out:",
    ...tests.map((test) => `  ${test}`),
    "",
    "To run them (as root on Debian, about a minute, nothing outside this machine is touched):",
    "  scripts/radosgw.sh install && npm test",
    `Or name a server of your own by ${realS3Variables.join(", ")}.`,
    line,
    ""
  ].join("\n")
}
