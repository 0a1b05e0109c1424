/** The first source document, from its costs on. */
import {
  acceptance,
  bench,
  type ClaimSection,
  core,
  differs,
  fails,
  holds,
  model,
  mutation,
  s3,
  section,
  server,
  suite,
  unproven
} from "./Claim.ts"

const cost = (title: string) => core("model/CostModel", title)
const presetsAre = core("config/ResolveOptions", "has the presets of the source documents, and overrides single fields")
const theirWindow = core("model/LossWindow", "…: they say …, their formula …, and … can be at risk")
const workersTable = core(
  "model/ThroughputCeiling",
  "… workers: they say … MB/s on 1 Gbit/s; it is … MB/s at 60 ms, and never above 125"
)
const stored = (kind: string, codec: string) =>
  bench("compress", `${kind}, ${codec}, bytes of a segment for each that is stored`)

const costs = [
  section(
    "Cost Considerations",
    holds(
      "PUT and LIST requests cost $0.005 per 1,000, GET $0.0004 per 1,000, storage $0.023 per GB and month.",
      cost("are those that the source document states")
    ),
    differs(
      "10,000 msg/s of 1 KB are 36 segment PUTs an hour, 25,920 a month, $0.13.",
      "36,000 an hour, 25.9 million a month, $129.60.",
      cost("segments: they say 36 PUTs an hour and $0.13; it is 36,000 and $129.60"),
      cost("…: it makes the PUTs in 30 s that the function says")
    ),
    differs(
      "Manifest PUTs are 324,000 a month, $1.62; before, $12.96, 87 % more.",
      "3,240,000 and $16.20 in batches of 8; one with each segment would be $129.60.",
      cost("manifest: they say 324,000 PUTs and $1.62; batches of 8 are 3,240,000 and $16.20"),
      cost("manifest before: they say $12.96, one write a second; with one a segment it was $129.60")
    ),
    differs(
      "A month of storage is 259 GB, $5.96.",
      "25.9 TB and $596. Deletion makes it a constant: what counts is how long a record stays.",
      cost("storage: they say 259 GB and $5.96; it is 25.9 TB and $596"),
      cost("deletion makes storage a constant, and compression divides it")
    ),
    differs(
      "In total $7.71 a month a stream, down from $19.",
      "about $742 with everything kept for a month.",
      cost("total: they say $7.71, before that $19; it is about $742"),
      bench("requests", "defaults: dollars a month for requests, 10 MB/s")
    ),
    holds(
      "A larger max_entries and cursor.interval cost fewer PUTs.",
      cost("aggressive: they say PUTs ten times cheaper than balanced, and so it is"),
      cost("at most 1.13 a segment at … segments a second")
    )
  ),
  section(
    "Aggressive Strategy",
    holds("10000 records, 10MB, 10s.", presetsAre),
    differs(
      "About 100,000 messages are at risk at 10K msg/s.",
      "its own formula says 10,000; with queue and in flight 180,000 while the store does not answer.",
      theirWindow
    ),
    holds(
      "PUTs cost about 10 times less than balanced.",
      cost("aggressive: they say PUTs ten times cheaper than balanced, and so it is")
    ),
    differs(
      "Throughput up to 200 MB/s.",
      "10 MB at 60 ms is 167 MB/s for one PUT at a time; see the law above.",
      workersTable
    )
  ),
  section(
    "Balanced Strategy (default)",
    holds(
      "1000 records, 1MB, 1s, and this is the default.",
      presetsAre,
      core("config/ResolveOptions", "fills in every default")
    ),
    differs(
      "About 10,000 messages are at risk at 10K msg/s.",
      "its own formula says 1,000; with queue and in flight 18,000 while the store does not answer.",
      theirWindow
    ),
    differs(
      "Throughput 100–150 MB/s.",
      "17 MB/s with one PUT at a time of 60 ms.",
      core("model/ThroughputCeiling", "one worker at … ms: they say 100 to 200 MB/s; it is …")
    )
  ),
  section(
    "Low-Latency Strategy",
    holds("100 records, 100KB, 100ms.", presetsAre),
    differs(
      "About 1,000 messages are at risk at 10K msg/s.",
      "its own formula says 100; with queue and in flight 1,800 while the store does not answer.",
      theirWindow
    ),
    holds(
      "Throughput is lower for its frequent flushes.",
      core("model/ThroughputCeiling", "counts the segment as entries and bytes let it grow"),
      bench("compare", "low_latency, 1 worker: durable while nobody waits")
    )
  ),
  section(
    "Custom Overrides",
    holds(
      "Each field of a preset can be overridden, as max_entries: 20000 and flush_interval: \"30s\".",
      presetsAre,
      core("config/DecodeBackend", "the three set-ups put together decode")
    )
  ),
  section(
    "Parallel PUT Workers",
    holds(
      "workers is 1 to 8, 1 by default; shutdown_timeout is 30s by default.",
      core("config/DecodeBackend", "workers … is refused"),
      core("config/ResolveOptions", "fills in every default")
    ),
    holds(
      "shutdown_timeout is how long closing waits for uploads; what is left is said as an exact range.",
      core("log/Close", "stores what it can within the time-out and reports the rest exactly"),
      mutation("closing has no time limit")
    ),
    differs(
      "Workers run side by side in independent channels, round robin, oldest first, 16 segments each.",
      "one queue of the same capacity, oldest first, taken by any free worker.",
      core("write/Durability", "lets any free worker take the next segment: a slow PUT stalls nobody else"),
      suite("Writer", "a slow PUT stalls no other worker")
    ),
    differs(
      "Several workers rewrite manifest.json at once, with ETag, conditional PUT and up to 8 tries.",
      "one coordinator writes it, with compare-and-swap also for one worker: at most 8 tries, then ManifestContention, and the " +
        "change stays.",
      core(
        "scenarios/06-manifest",
        "answered 409, 409, 412 in turn: every change is in it once, in few tries, none is dropped"
      ),
      core(
        "scenarios/06-manifest",
        "that loses every try is left after eight, with pauses that grow, and tried again later"
      ),
      model("never-merge-another-epoch")
    ),
    differs(
      "A backend without conditional PUT falls back to an unconditional write.",
      "it is refused at start; single_writer is an explicit opt-out with one worker, and nothing is ever deleted.",
      core("epoch/StoreProbe", "a store that ignores the condition of a create"),
      core("config/ResolveOptions", "single_writer needs one worker, one PUT at a time and keeps everything"),
      s3("S3Writes", "(a) a refused condition is NotSupported and names the header")
    )
  ),
  section(
    "Compression",
    differs(
      "zstd saves 50–70 % of storage and network.",
      "ratios of real Arrow IPC and of NDJSON are printed by the benchmark.",
      stored("Arrow IPC", "zstd 3"),
      stored("NDJSON logs", "zstd 3"),
      core("write/Compression", "… is applied: stored bytes shrink, and the log reads back")
    ),
    differs(
      "lz4 2–3 times, 108 on Arrow IPC; zstd-3 3–5 times, 181 on Arrow IPC; zstd-9 5–8 times.",
      "the 108 and 181 were measured on a cycle of the bytes 0 to 255. Ratios here are of real data.",
      stored("Arrow IPC", "lz4"),
      stored("Arrow IPC", "zstd 9"),
      stored("NDJSON logs", "lz4")
    ),
    differs(
      "zstd-1, 3, 6 and 9 pack the same 50000 bytes into 276, lz4-1, 4 and 9 into 462.",
      "that is what such bytes do to any level; on other data a higher level of zstd packs more. lz4 has one level here.",
      core("node/NodeCompression", "a higher level of zstd packs more"),
      core("config/DecodeBackend", "that the lz4 level changes nothing is said"),
      stored("NDJSON logs", "zstd 1"),
      stored("NDJSON logs", "zstd 9")
    ),
    differs(
      "CPU cost: 2–5 % for lz4, 5–10 % for zstd-3, 20–30 % for zstd-9.",
      "packing happens in the thread pool; what it leaves of the codec's own speed, and how late the event loop is, is measured.",
      bench("compress", "NDJSON logs, zstd 3, against the bare codec"),
      bench("compress", "p99 of the event loop's delay, zstd 3, logs at 100 MB/s")
    ),
    holds(
      "Segments smaller than 10KB are stored as they are.",
      core("write/Compression", "leaves a body below the threshold raw, and marks it raw")
    ),
    holds("none is the default.", core("config/ResolveOptions", "fills in every default"))
  )
]

const operations = [
  section(
    "Failure Scenarios",
    holds(
      "S3 unavailable: append blocks when the channel is full.",
      core("write/Outage", "fills the buffer to its bound and no further; input resumes by itself"),
      suite("Outage", "the store answers …: bounded, visible, and input goes on by itself afterwards"),
      acceptance("outage")
    ),
    holds(
      "S3 unavailable at start: the stream does not start, with a typed error.",
      core("Wal", "opening says at once that the store refuses its manifest"),
      core(
        "scenarios/01-crash-while-opening",
        "a store that never answers is OpenTimeout, at whatever request; the log can be opened afterwards"
      )
    ),
    differs(
      "At start that is an engine error.",
      "the server opens such a stream again with back-off; the other streams are served meanwhile.",
      server("control", "are opened again with back-off while the error may pass, and never stop the others")
    ),
    holds(
      "A local cache with a retry queue would bridge a partition: the spool does.",
      core("spool/Outage", "takes input far beyond the buffer, in order, and empties the spool afterwards"),
      acceptance("spool")
    ),
    unproven(
      "Cross-region replication mitigates an outage.",
      "replication is asynchronous and does not keep the order of writes: a replica can lack what was acknowledged. Nothing " +
        "here tries it; the assumption of one store that is read-after-write consistent excludes it."
    ),
    differs(
      "A segment PUT that fails is lost, the worker goes on.",
      "it is sent again with the same key and bytes until it is stored, the log is fenced, or the log is closed.",
      core("write/Durability", "sends a failed PUT again: same key, same bytes, nothing merged in"),
      mutation("a PUT that failed skips its segment"),
      core("write/RandomFaults", "no record is lost, doubled or acked out of order: seed …")
    ),
    fails(
      "Server-side encryption and versioning mitigate a lost segment.",
      "neither brings back what was never stored. Encryption can be asked for; a versioned bucket is pointed out, as deletes " +
        "free nothing there.",
      s3("S3Store", "encryption and session token go into the request"),
      s3("S3Store", "a life-cycle rule over the prefix and versioning are warnings")
    )
  ),
  section(
    "Key Metrics",
    differs(
      "segment_put_latency, segment_put_frequency, segment_size, cursor_lag and recovery_latency.",
      "wal_segment_put_latency_seconds, wal_segment_puts_total (its rate is the frequency), wal_segment_size_bytes, " +
        "wal_cursor_lag_entries and wal_recovery_latency_seconds.",
      core("log/Metrics", "names are counters in _total, base units, labels of a known set"),
      core("log/Metrics", "say what a run did"),
      server("system", "parse strictly, whatever the labels hold")
    )
  ),
  section(
    "Logging",
    holds(
      "Four lines: \"Sealing segment\", \"Segment PUT complete\", \"Recovery: replayed\", \"Segment PUT failed … retrying\".",
      core("log/Observed", "sealing, PUT complete, recovery replayed"),
      core("log/Observed", "PUT failed, retrying: at most one a second, and it says how many it left out")
    )
  )
]

export const costSections: ReadonlyArray<ClaimSection> = [...costs, ...operations]
