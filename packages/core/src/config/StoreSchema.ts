/**
 * The blocks that say where a log is kept: `s3` or `directory`, perhaps with a `spool`, or `local`.
 */
import { Schema } from "effect"
import { choice, duration, flag, integer, optional, secret, size, text, withDefault } from "./Field.ts"

const bucketPattern = /^[A-Za-z0-9][A-Za-z0-9._-]{1,254}$/

const isPlainUrl = (value: string): boolean => {
  if (!URL.canParse(value)) return false
  const url = new URL(value)
  return (url.protocol === "http:" || url.protocol === "https:") && url.pathname === "/" && url.search === "" &&
    url.hash === "" && url.username === "" && url.password === ""
}

const deadline = (note: string) => duration({ min: "1ms", max: "1h", note })

const keyFile = (what: string) =>
  optional(
    text({
      note: `The file that holds the ${what}; read again when the store says that it has expired, ` +
        "so a mounted secret can be renewed."
    })
  )

/** Whether the store's conditional writes are relied on; part of the store in the file, of the log in the library. */
export const conditionalWrites = choice(["required", "single_writer"], {
  note: "`single_writer` is for stores without conditional writes: one worker, nothing deleted, and no " +
    "protection against a " +
    "second process with the same ids or against late requests. Only where a second writer can never run."
})

/** `backend.s3`: a bucket of S3, or of a store that speaks its protocol and has conditional writes. */
export const S3Block = Schema.Struct({
  bucket: optional(
    text({
      range: "2 to 255 characters of A-Z a-z 0-9 . _ -, the first a letter or digit",
      test: (value) => bucketPattern.test(value),
      note: "The bucket. Required. Nobody but the log may delete below the prefix in it."
    })
  ),
  region: optional(
    text({ note: "The region of the bucket." }),
    "AWS_REGION or the profile; us-east-1 with an endpoint"
  ),
  endpoint: optional(
    text({
      kind: "url",
      range: "must be an http or https URL without user, path or query",
      test: isPlainUrl,
      note: "The address of a store other than AWS."
    }),
    "AWS"
  ),
  path_style: optional(
    flag({ note: "The bucket in the path instead of in the host name; most stores other than AWS need it." }),
    "true with an endpoint, else false"
  ),
  access_key_id: optional(
    secret({
      note: "The access key. Without one, the default chain of the SDK is asked: environment, profile, " +
        "web identity, container, instance."
    }),
    "the default chain"
  ),
  access_key_id_file: keyFile("access key"),
  secret_access_key: optional(
    secret({ note: "The secret of the access key; better in a file or in the environment than here." })
  ),
  secret_access_key_file: keyFile("secret"),
  session_token: optional(secret({ note: "The token of temporary credentials." })),
  session_token_file: keyFile("token"),
  encryption: optional(
    choice(["AES256", "aws:kms"], { note: "Server-side encryption asked for with each object." }),
    "what the bucket does"
  ),
  kms_key_id: optional(text({ note: "The KMS key; only with `encryption: aws:kms`." }), "the account's key"),
  attempt_deadline: withDefault(
    deadline(
      "Longest wait for one PUT or GET, body included. Too low turns a slow link into endless " +
        "retries; too high leaves a dead connection unnoticed."
    ),
    "30s"
  ),
  small_request_deadline: withDefault(
    deadline("The same for requests without a body: listing, removing, looking."),
    "15s"
  ),
  connect_timeout: withDefault(deadline("Longest wait for a new connection."), "5s"),
  checksums: withDefault(
    choice(["when_supported", "when_required"], {
      note:
        "Whether the store checks what arrives; `when_required` is for stores that refuse checksum headers with 501."
    }),
    "when_supported"
  ),
  put_path: withDefault(
    choice(["direct", "sdk"], {
      note:
        "How segments are sent: `direct` goes around the middleware of the AWS SDK, with its credentials, signature " +
        "and connections, and takes far less of the processor; `sdk` sends them as it sends all else."
    }),
    "direct"
  ),
  unsigned_payload: withDefault(
    choice(["over_tls", "always"], {
      note: "When a direct PUT leaves its body out of its signature. `always`, for trusted networks: without TLS the " +
        "signature then proves who sends and not what; the checksum still finds accidents."
    }),
    "over_tls"
  ),
  etag: withDefault(
    choice(["auto", "quoted", "unquoted"], {
      note: "How the store wants ETags in conditions; `auto` finds out at start."
    }),
    "auto"
  ),
  conditional_writes: withDefault(conditionalWrites, "required"),
  max_sockets: withDefault(
    integer({ min: 1, max: 4_096, note: "Most connections at once; requests beyond wait inside their deadline." }),
    128
  )
})

/** `backend.directory`: objects as files, for one machine; conditional writes hold across processes. */
export const DirectoryBlock = Schema.Struct({
  path: optional(
    text({ note: "The directory; created when absent. Required. It does not survive the loss of the disk." })
  ),
  allow_network_file_system: withDefault(
    flag({ note: "Take a directory on a network file system, whose hard links and syncs may not do what they say." }),
    false
  )
})

const mebibyte = 1_048_576

/** Where a file of a local log ends, unless it is told otherwise. */
export const defaultMaxFileBytes = 64 * mebibyte

/** `backend.local`: a log in files of this machine's disk, appended and synced; one process at a time. */
export const LocalBlock = Schema.Struct({
  path: optional(
    text({
      note: "The directory; created when absent. Required. Several logs can share it; each is locked by the process " +
        "that has it open. It does not survive the loss of the disk."
    })
  ),
  max_file_bytes: withDefault(
    size({
      min: 65_536,
      max: 2 ** 40,
      note: "A file is followed by the next one at this size. Smaller: deleted records give their space back sooner, " +
        "as files go whole. Larger: fewer files."
    }),
    defaultMaxFileBytes
  )
})

/** `backend.spool`: where sealed segments wait on this machine's disk while the object store is away. */
export const SpoolBlock = Schema.Struct({
  path: optional(
    text({
      note:
        "The directory; created when absent. Required. Several logs can share it; each is locked by the process that " +
        "has it open. What waits there survives the process and a restart of the machine, not the loss of the node."
    })
  ),
  max_bytes: withDefault(
    size({
      min: 64 * mebibyte,
      max: 2 ** 50,
      note: "Most disk space for segments that wait; beyond it appends wait as without a spool."
    }),
    "10GB"
  ),
  after: withDefault(
    duration({
      min: "0ms",
      max: "1m",
      note: "Spooling starts when a PUT has failed or has been under way so long. Shorter: memory is freed sooner. " +
        "Longer: a slow store alone costs no disk writes."
    }),
    "2s"
  )
})
