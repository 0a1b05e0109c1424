/** The guides of `docs/guides`, and what keeps them true. */
import { acceptance, type ClaimSection, core, holds, s3, section, server, suite, testing, unproven } from "./Claim.ts"

const survives: ReadonlyArray<ClaimSection> = [
  section(
    "docs/guides/choosing-durability.md",
    holds(
      "A crash takes accepted records as one piece; spooled and durable ones stay.",
      suite("Restart", "what was only accepted goes as one suffix; its numbers are given again, in another epoch"),
      core("spool/Recovery", "is sent under its own numbers where nobody has taken the log over")
    ),
    holds(
      "An orderly stop stores everything, or reports a range.",
      server("shutdown", "what is left has its exact range in the report and a code of its own")
    ),
    holds(
      "The store away: accepted waits in memory, spooled on disk; nothing is dropped.",
      acceptance("outage"),
      core("write/Outage", "keeps everything while the store answers …, and goes on without a restart"),
      core("spool/Outage", "takes input far beyond the buffer, in order, and empties the spool afterwards")
    ),
    holds(
      "Beyond the spool's max_bytes appends wait.",
      core("spool/Outage", "stops input at the bound of the spool, and not before; goes on when it drains")
    ),
    holds(
      "A second writer takes over: what was spooled comes back once, under new numbers; else SpoolUndecided.",
      core("spool/Recovery", "is appended again, once, with new numbers, where another node has taken the log over"),
      core("spool/Recovery", "a spool that nothing in the store explains is refused, and nothing is changed")
    ),
    holds(
      "A full disk of a local log refuses new input with DiskFull (507).",
      server("disk-full", "only a 507 that can be repeated says when"),
      suite(
        "Outage",
        "a full disk refuses appends with DiskFull, keeps what it took, and takes more once there is room"
      )
    ),
    holds(
      "A reader stops at damage, or with skip delivers the lost range.",
      server("damage", "is an error by its name, and with on_damage=skip an element between the records")
    ),
    holds(
      "A call that names its producer is kept in one segment and appended once.",
      core("write/ProducerAppend", "with what others append before and after it"),
      server("idempotency", "is answered as the first time, byte for byte, and says that it is a repeat")
    ),
    holds(
      "Presets: aggressive 10,000 records, 10,485,760 bytes, 10s, linger 1s; balanced 1,000, 1,048,576, 1s, 100ms; " +
        "low_latency 100, 102,400, 100ms, 5ms.",
      core("config/ResolveOptions", "has the presets of the source documents, and overrides single fields"),
      core("write/Sealing", "the preset … lingers … ms for who waits")
    ),
    holds(
      "Hedging costs up to 5 % more requests.",
      core(
        "write/Hedging",
        "no larger share of requests is sent again than lies above the percentile, whatever the store does"
      )
    ),
    holds(
      "sync: group_commit once for all who wait, per_entry for each record, periodic by interval and size.",
      core("node/LocalLog", "group_commit: everybody who waits is served by one segment and one sync"),
      core("node/LocalLog", "per_entry: each record of a call has a segment and a sync of its own, without a flush"),
      core("node/LocalLog", "periodic: durable is what the next interval stores, not what somebody waits for"),
      acceptance("syncs")
    ),
    holds(
      "A directory store of an earlier version is not opened as a local log.",
      core("node/LocalLog", "a log of the directory store is not begun anew as a local one")
    )
  )
]

const running: ReadonlyArray<ClaimSection> = [
  section(
    "docs/guides/quick-start.md",
    holds(
      "A record is there after the server was killed.",
      server("main", "finds after kill -9 and a restart what was answered before")
    ),
    holds(
      "A repeated call with an Idempotency-Key answers the first numbers.",
      server("idempotency", "is answered as the first time, byte for byte, and says that it is a repeat")
    )
  ),
  section(
    "docs/guides/embedding.md",
    holds(
      "append waits only for room; durable completes, or fails with the reason why the log ended.",
      core("write/Append", "keeps the order of callers that wait for room"),
      core("write/Durability", "is fenced by a newer writer for good: waiting and later calls fail with it")
    ),
    holds(
      "The scope closes the log within 30 s, and what could not be stored is an exact range.",
      core("log/Close", "the end of the scope closes: nothing accepted is lost"),
      core("log/Close", "stores what it can within the time-out and reports the rest exactly")
    ),
    holds(
      "A log made twice is AlreadyOpen.",
      core("log/Several", "the same identity twice in a process: AlreadyOpen, until the first is closed")
    ),
    holds(
      "A record that does not decode is an error, or an element when told to skip.",
      core("TypedWal", "fail the stream by default, with number and reason, after all before them"),
      core("TypedWal", "are elements that say so with the policy skip, with their bytes, and the rest is delivered")
    )
  ),
  section(
    "docs/guides/testing.md",
    holds(
      "A log in memory that needs no clock to close, faults on request, a crash.",
      core("log/Close", "seals and stores what is open, then the manifest with the cursors, and needs no clock"),
      testing("HttpS3Double", "keeps its conditions"),
      testing("BrokenDisk", "each wrapper breaks its promise and no other")
    )
  ),
  section(
    "docs/guides/operations.md",
    holds(
      "healthz is 200 unless a log has died; readyz says whether records can be taken, and why not.",
      server("system", "tell a full buffer and a store that has been failing for longer than store_grace"),
      server("system", "a dead log is 503 on both, and the process is told")
    ),
    holds(
      "Exit codes: 2 configuration, 70 a defect, 75 records were left.",
      server("main", "reports a bad configuration without a stack trace, with code 2"),
      server("shutdown", "ends with 70 when a log has died"),
      server("shutdown", "what is left has its exact range in the report and a code of its own")
    )
  ),
  section(
    "docs/guides/recovery-and-repair.md",
    holds(
      "A log that refuses to open has changed and deleted nothing.",
      core(
        "scenarios/05-damage-refused",
        "the last segment before the end is damaged: refused, named, nothing written"
      ),
      core("scenarios/06-manifest", "that does not decode, or has a newer version, is refused and left as it is")
    ),
    holds(
      "A repair records the loss exactly, and everything else can be read and written again.",
      core("repair/Damage", "…: opens, the loss is exact, the rest is read")
    )
  ),
  section(
    "docs/guides/upgrading.md",
    holds(
      "A log of format version 1 opens for ever; an old program refuses a newer one by name, and keeps fields that it does not know.",
      core("format/FormatVersion1", "the whole log opens, reads and goes on"),
      core("format/SegmentHeader", "of a newer version, kind, codec or with an unknown critical extension is too new"),
      core("format/ManifestCodec", "keeps the fields that it does not know through a rewrite")
    )
  )
]

const stores: ReadonlyArray<ClaimSection> = [
  section(
    "docs/guides/s3-setup.md",
    holds(
      "A life-cycle rule over the prefix, and versioning, are reported at start.",
      core(
        "twins/K-retention",
        "what the store says of versioning and life-cycle rules is a warning when the log opens"
      ),
      s3("S3Store", "a life-cycle rule over the prefix and versioning are warnings")
    ),
    holds(
      "Without access_key_id the SDK's default chain is asked; keys in files are read again when they have expired.",
      server("config/S3Settings", "a session token reaches the store; without credentials the default chain is used"),
      server("config/S3Settings", "credentials in files are read each time they are asked for")
    ),
    unproven(
      "Object Lock, KMS keys and S3 Express on AWS.",
      "no AWS account is used here. The requests that ask for encryption are tested; what AWS does with them is not."
    )
  ),
  section(
    "docs/guides/stores.md",
    holds(
      "A store without conditional writes is refused by the probe, in each of its ways to fail.",
      core("epoch/StoreProbe", "a store that ignores the condition of a create"),
      core("epoch/StoreProbe", "501 to a conditional create: the check is named, nothing is tried again"),
      core("epoch/StoreProbe", "several winners of a race of creates, which one after another does not show")
    ),
    holds(
      "Ceph's gateway is used in every run of the tests that has one.",
      s3("S3ObjectStore.integration", "a real S3 server"),
      s3("Log.integration", "a log on a real S3 server")
    ),
    unproven(
      "What is said of MinIO, R2, B2, Spaces and Google Cloud Storage.",
      "it is what their makers or users say, with the source beside it. The probe decides at start."
    )
  ),
  section(
    "docs/guides/kubernetes.md",
    holds(
      "Two pods with one id: the newer takes over, the older is fenced, told to callers as 409, not ready, and not opened again.",
      server("control", "a fenced stream answers 409 with the new owner, is not ready, and is not opened again"),
      acceptance("takeovers")
    ),
    holds(
      "A termination drains within shutdown_timeout (25s), below the 30 s after which Kubernetes kills.",
      server("shutdown", "is not ready first, then refuses appends and closes connections, then closes the logs"),
      server("shutdown", "a log that does not close in time is reported, and the process goes on to end")
    ),
    holds(
      "The manifests name ports, paths and times that the program has.",
      server("deploy/Kubernetes", "probe what the server answers, at its port"),
      server("deploy/Kubernetes", "give a pod more time to end than the server takes")
    ),
    unproven("The manifests run.", "no cluster is where the tests run; what Kubernetes does is as it documents.")
  ),
  section(
    "docs/guides/replication-and-versioning.md",
    holds(
      "A manifest older than the objects is found, not taken for the truth.",
      core(
        "verify/Manifest",
        "knows a manifest that was put back from an older copy: of an epoch before, and of the same one"
      ),
      core(
        "repair/Manifest",
        "was put back from an older copy is brought forward, with an epoch above all that were seen"
      )
    ),
    holds(
      "A WalReader on a copy writes nothing.",
      core("WalReader", "shows what is durable, changes no byte, and does not disturb the writer")
    ),
    unproven(
      "What replication between regions does.",
      "it is what AWS documents. The log treats what is missing as any other loss; replication itself is not run here."
    )
  )
]

export const guideSections: ReadonlyArray<ClaimSection> = [...survives, ...running, ...stores]
