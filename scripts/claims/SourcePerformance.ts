/** The first source document, up to its costs: `SourceCosts.ts` has the rest. */
import { bench, type ClaimSection, core, differs, holds, mutation, s3, section, suite } from "./Claim.ts"

const boundedQueue = core("write/Outage", "counts segments too: a queue of 16 for each worker")
const theirWindow = core("model/LossWindow", "…: they say …, their formula …, and … can be at risk")
const windowTable = core("model/LossWindow", "… at …/s: they say …, their formula …")
const workersTable = core(
  "model/ThroughputCeiling",
  "… workers: they say … MB/s on 1 Gbit/s; it is … MB/s at 60 ms, and never above 125"
)
const oneSlowWorker = core(
  "write/Durability",
  "lets any free worker take the next segment: a slow PUT stalls nobody else"
)
const nothingSaved = core(
  "model/CostModel",
  "manifest at 8 segments or 100 ms: the 100 ms come first, and nothing of the 58 % is saved"
)
const atMost = core("log/Requests", "at most 1.13 requests a segment at … segments a second")

export const performanceSections: ReadonlyArray<ClaimSection> = [
  section(
    "Architecture Overview",
    holds(
      "Input is appended to a segment in memory; max_entries, max_bytes or flush_interval seal it, and a worker PUTs it.",
      core("write/Sealing", "by entries, at once"),
      core("write/Sealing", "by bytes, at once"),
      core("write/Sealing", "by the interval since the first record, with nobody waiting")
    ),
    holds(
      "A full channel is back-pressure: the caller waits.",
      core("write/Outage", "fills the buffer to its bound and no further; input resumes by itself"),
      mutation("buffered bytes have no bound")
    ),
    differs(
      "A flume channel with a capacity of 16 segments decouples the write path from PUTs.",
      "one queue for all workers, of 16 segments for each of them, and a bound in bytes over open, queued and in-flight ones.",
      boundedQueue,
      core("write/Sizes", "takes a batch larger than the buffer piece by piece, within the bound")
    ),
    holds(
      "append returns without waiting for the 10–200 ms of a PUT.",
      core("write/Outage", "fills the buffer to its bound and no further; input resumes by itself"),
      bench("append", "a record")
    ),
    differs(
      "Manifest updates every 8 segments or 100 ms save about 58 %: 1.24 operations a segment instead of 3.",
      "at 10 segments/s the 100 ms come first, and it is 2 requests a segment. With 8 segments or 10 s it is 1.13 at most from " +
        "0.8 segments/s up.",
      nothingSaved,
      atMost,
      bench("requests", "defaults: requests a segment, 10 segments/s")
    )
  ),
  section(
    "Latency Breakdown",
    differs(
      "append_batch takes 1–50 μs.",
      "a record takes less than a microsecond, a call about as long as the copy of its bytes. The benchmark has the goal of " +
        "50 μs for the 99th percentile of calls of 100 KiB, and says whether it is met.",
      bench("append", "a record"),
      bench("append", "p99 of a call, a millisecond between calls"),
      bench("compare", "S3: append of 1 record")
    ),
    differs(
      "A segment PUT takes 10–200 ms.",
      "that is the store's time; what the log adds to it is measured.",
      bench("ack", "p50 of one caller, more than a bare PUT"),
      core("log/Metrics", "the time of a PUT is from the first try to the confirmation, in seconds")
    ),
    holds(
      "Sending to the channel takes less than 1 μs and blocks only where it is full.",
      bench("append", "a record"),
      boundedQueue
    ),
    differs(
      "A batched manifest PUT takes 10–100 ms, for a small JSON body, 8 times less often.",
      "no append waits for it, and its size has a bound however long the log is.",
      core("scenarios/06-manifest", "has one size for 20 and for 2,000 segments, for one PUT a segment"),
      core(
        "twins/D-outage",
        "only the manifest: appends stay durable at full speed, trim waits, close says what it could not write"
      ),
      bench("growth", "manifest bytes, segments in the log: last point against first")
    ),
    differs(
      "Recovery (LIST and GET) takes 100–500 ms, by the number of segments.",
      "what is committed costs nothing, the first record comes after a number of round trips that does not grow, and what is " +
        "left is read once.",
      bench("recover", "cursor at 0 %, to the first record"),
      bench("growth", "recovery time, committed segments: last point against first"),
      core("read/Replay", "fetches no segment that is committed as a whole")
    )
  ),
  section(
    "Throughput Limits",
    differs(
      "A single worker PUTs 50–150 MB/s, 4–8 workers 200–450 MB/s; practical are 100–200 MB/s with one worker, 450 MB/s with 8.",
      "PUTs under way × segment size ÷ latency is the law: 1 MiB at 60 ms is 17 MB/s for one, and 1 Gbit/s carries 125 MB/s " +
        "whatever is configured. A log is measured against that law.",
      workersTable,
      core("model/ThroughputCeiling", "one worker at … ms: they say 100 to 200 MB/s; it is …"),
      core("model/ThroughputCeiling", "is that of a real log under a flood"),
      bench("law", "1 PUTs under way, against the law"),
      bench("law", "8 PUTs under way, against the law")
    ),
    differs(
      "Recovery by LIST reads 20–100 MB/s, bounded by the API's rate.",
      "16 segments are fetched at a time; measured against bare GETs of as many at a time.",
      bench("recover", "cursor at 0, segments a second, opening included, against raw GETs"),
      core("read/Scale", "10,000: in order, GETs in flight within the prefetch, first record before the last GET")
    ),
    holds(
      "Local encoding does 500 MB/s or more.",
      bench("encode", "bytes of records"),
      bench("encode", "against copy + CRC")
    ),
    differs(
      "Back-pressure comes at 16 segments a worker, which is configurable.",
      "the 16 are fixed; max_buffered_bytes is what is configured, and is the bound that counts.",
      boundedQueue,
      core(
        "model/LossWindow",
        "the buffer caps it: with 4 workers and the default buffer not 690,000 but what 256 MiB hold"
      )
    ),
    differs(
      "Parallel workers have bounded channels of their own, assigned round robin, for 2–3 times the throughput.",
      "one queue, and any free worker takes the oldest: with a channel each, one slow worker blocks the rest. While latency is " +
        "the limit, 8 workers carry nearly 8 times as much.",
      oneSlowWorker,
      bench("law", "8 workers against 1")
    ),
    holds(
      "Several workers change nothing of at least once.",
      core("write/Durability", "acks in order only, whichever PUT ends first"),
      core("scenarios/90-random-walk", "four workers, depth two, deleting")
    ),
    holds(
      "With 8 workers the store's rate limits can be met: 503s slow the log down and lose nothing.",
      core("write/Outage", "never comes back sooner than the store asked"),
      s3("S3Deadlines", "… is Throttled, with its Retry-After")
    )
  ),
  section(
    "Crash Window",
    differs(
      "loss_window = min(max_entries, max_bytes ÷ message size, flush_interval × rate).",
      "that is the open segment only. What is queued and in flight is at risk as well: (1 + (16 + depth) × workers) times that, " +
        "capped by max_buffered_bytes. What is at risk right now is a gauge.",
      theirWindow,
      core("model/LossWindow", "…: the status says at the limit what the function says"),
      core("log/Metrics", "show what is at risk while PUTs are under way")
    ),
    differs(
      "100 ms, 1 s and 5 s at 1,000, 10,000 and 100,000 msg/s are 100 to 500,000 messages.",
      "the table leaves max_entries and max_bytes out, which are in its own formula. Each of the nine values is compared.",
      windowTable
    )
  ),
  section(
    "Segment Batching (D4)",
    holds(
      "Defaults: max_entries 1000, max_bytes 1 MiB (1048576), flush_interval 1s.",
      core("config/ResolveOptions", "has the presets of the source documents, and overrides single fields")
    ),
    holds(
      "Small segments mean a smaller window and more PUTs, large ones the reverse; so does the interval.",
      core("model/LossWindow", "…: they say …, their formula …, and … can be at risk"),
      core("model/CostModel", "aggressive: they say PUTs ten times cheaper than balanced, and so it is")
    ),
    holds(
      "Recommended: 10000, 10MB, 10s for throughput; 100, 100KB, 100ms for a small window. These are the presets.",
      core("config/ResolveOptions", "has the presets of the source documents, and overrides single fields")
    )
  ),
  section(
    "Cursor Flushing (D6)",
    holds(
      "The committed cursor is stored every 1000 records or every 1s.",
      core("cursor/Cursors", "the manifest is written after the interval when no segment is due"),
      core("cursor/Cursors", "the manifest is written after cursor.max_entries when no segment is due")
    ),
    differs(
      "It is persisted to manifest.json.",
      "segments that are appended carry it in their headers for nothing; the manifest only where no segment is due.",
      core("cursor/Cursors", "segment headers carry the cursors: no manifest write while segments flow"),
      core("cursor/Cursors", "the cursor in a header counts only once its slot is durable")
    ),
    differs(
      "100ms, 1s and 10s repeat about 100, 1000 and 10000 messages after a crash.",
      "with max_entries of 1000 no more than that, and what is committed during one PUT.",
      core("model/DuplicateWindow", "…: they say …; with their max_entries it is …, and what a PUT of 60 ms adds"),
      core(
        "model/DuplicateWindow",
        "…: killed at any moment it delivers again what the function says at most, and nearly as much"
      )
    ),
    holds(
      "Cursor batching adds duplicates, never a gap; outputs must tolerate duplicates.",
      core("cursor/Cursors", "kill 0.2 s after a commit: replay from what was stored, no hole; close stores exactly"),
      suite("Cursor", "killed 0.2 s after a commit: replay from what was stored, no hole")
    )
  ),
  section(
    "Comparison with Local Backend",
    differs(
      "append takes 1 μs locally and 50 μs on S3, 50 times slower.",
      "both copy into memory and take the same.",
      bench("compare", "local: append of 1 record"),
      bench("compare", "S3 against local: append of 1 record")
    ),
    differs(
      "flush takes 2 ms locally and 50 ms on S3, 25 times slower.",
      "that is the disk's sync against the store's PUT, as measured.",
      bench("compare", "local: append and flush, p50"),
      bench("compare", "S3: append and flush, p50")
    ),
    differs(
      "Throughput is 500 MB/s locally and 150 MB/s on S3.",
      "as measured, on one machine, in turns.",
      bench("compare", "local: durable while nobody waits"),
      bench("compare", "S3: durable while nobody waits")
    ),
    differs(
      "The crash window is 100 messages locally and 1000 on S3.",
      "as measured at 10,000 records/s.",
      bench("compare", "local: at risk at 10,000 records/s, p99"),
      bench("compare", "S3: at risk at 10,000 records/s, p99")
    ),
    holds(
      "A log on S3 survives the loss of the node, a local one does not.",
      suite("Writer", "a second writer takes over, the first is fenced for good, all that was durable is there"),
      core("node/LocalLog", "keeps what was durable, and a restart goes on behind it")
    )
  )
]
