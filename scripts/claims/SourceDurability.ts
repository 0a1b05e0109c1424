/** The second source document. */
import { bench, type ClaimSection, core, differs, fails, holds, s3, section, server, unproven } from "./Claim.ts"

const theirWindow = core("model/LossWindow", "…: they say …, their formula …, and … can be at risk")
const fiveExamples = core("config/DecodeBackend", "the five set-ups of the source's examples decode")
const threeTogether = core("config/DecodeBackend", "the three set-ups put together decode")
const numbersOfHeads = server("examples/Settings", "…: the numbers in its head are those of the models")
const served = server("examples/Serve", "all of them are in the table of these tests")
const levels = core("config/DecodeBackend", "… level … is refused, not clamped")
const windowOf = (preset: string, claimed: string, formula: string, most: string) =>
  differs(
    `${preset}: about ${claimed} messages at 10,000 msg/s of 1 KB.`,
    `${formula} by its own formula, ${most} at most while the store does not answer.`,
    theirWindow
  )

const dimensions: ReadonlyArray<ClaimSection> = [
  section(
    "WAL Durability & Performance",
    holds(
      "Messages are kept at the input boundary, survive crashes, and are replayed on restart.",
      core("cursor/Cursors", "the mark moves over what is contiguous, and replay starts there"),
      core("scenarios/09-adoption-and-cursors", "segments that no manifest names are adopted, once, by every start"),
      server("main", "finds after kill -9 and a restart what was answered before")
    )
  ),
  section(
    "Quick Start",
    holds(
      "The minimal configuration is enough: enabled, type, node_id, stream_id, bucket and region.",
      server("config/ServerConfig", "the quick start of the source decodes, with the node's variable put in")
    ),
    differs(
      "Streams have an input, as kafka.",
      "this version has no inputs: such keys are refused by name, never ignored. Records come in over HTTP or the library.",
      server("config/ServerConfig", "unknown, misspelt and doubled keys are errors with their lines")
    ),
    differs(
      "node_id: \"${ARKFLOW_NODE_ID}\" names the node.",
      "an unset variable is an error: taken literally, all pods would have one id.",
      server("config/ServerConfig", "an unset node id is refused, not taken literally")
    )
  ),
  section(
    "Preset Strategies",
    holds(
      "aggressive 10000, 10 MB, 10 s; balanced 1000, 1 MB, 1 s, the default; low_latency 100, 100 KB, 100 ms.",
      core("config/ResolveOptions", "has the presets of the source documents, and overrides single fields"),
      core("write/Sealing", "the preset … lingers … ms for who waits")
    )
  ),
  section(
    "Custom Overrides",
    holds(
      "Any parameter of a preset can be overridden by itself.",
      core("config/ResolveOptions", "has the presets of the source documents, and overrides single fields")
    )
  ),
  section(
    "Crash Window Trade-off",
    differs(
      "The window is the messages between a write and the next segment flush.",
      "queued and in-flight segments are at risk as well.",
      core("model/LossWindow", "…: the status says at the limit what the function says"),
      core("model/LossWindow", "the example with 4 workers multiplies the window: 16 a worker are queued")
    ),
    windowOf("aggressive", "100,000", "10,000", "180,000"),
    windowOf("balanced", "10,000", "1,000", "18,000"),
    windowOf("low_latency", "1,000", "100", "1,800")
  ),
  section(
    "Dimension 2: Parallel PUT Workers",
    differs(
      "Each worker owns a bounded channel of 16 segments.",
      "one queue of 16 segments for each worker, shared.",
      core("write/Outage", "counts segments too: a queue of 16 for each worker"),
      core("write/Durability", "lets any free worker take the next segment: a slow PUT stalls nobody else")
    ),
    unproven(
      "S3 allows 3,500 PUT/DELETE and 5,500 GET a second below a prefix.",
      "that is the store's number. A log sends at most 64 PUTs at a time and one DELETE for many keys; refusals for their rate " +
        "are waited out.",
      s3("S3Deadlines", "… is Throttled, with its Retry-After"),
      core("write/Outage", "never comes back sooner than the store asked")
    ),
    differs(
      "More workers take more memory: up to 16 sealed segments each.",
      "max_buffered_bytes is the bound, whatever the number of workers.",
      core(
        "model/LossWindow",
        "the buffer caps it: with 4 workers and the default buffer not 690,000 but what 256 MiB hold"
      ),
      core("log/Several", "bounds what all logs hold together; whoever waits goes on when another gives back")
    ),
    fails(
      "On 1 Gbit, 1 worker does 150 MB/s, 4 do 300 (2.0×), 8 do 400 (2.7×).",
      "1 Gbit/s carries 125 MB/s. In front of a store with 60 ms and its own bandwidth a connection, 8 workers are measured " +
        "against 1.",
      core(
        "model/ThroughputCeiling",
        "… workers: they say … MB/s on 1 Gbit/s; it is … MB/s at 60 ms, and never above 125"
      ),
      bench("law", "8 workers against 1"),
      bench("law", "4 PUTs under way, against the law")
    )
  ),
  section(
    "Dimension 3: Compression",
    holds(
      "Segments are compressed before upload by none, lz4 or zstd.",
      core("write/Compression", "… is applied: stored bytes shrink, and the log reads back"),
      core(
        "node/NodeCompression",
        "what one program writes with one codec the other reads, whatever it is configured with"
      )
    ),
    differs(
      "Compression makes recovery's LIST and GET smaller.",
      "GETs are smaller by what is saved; a listing holds keys and sizes, and stays as it is.",
      core("write/Compression", "measures what it saves"),
      core("log/Metrics", "the ratio is raw bytes for each stored byte, and take-overs are counted")
    ),
    holds(
      "zstd has levels 0–22, 3 by default; none has none.",
      core(
        "node/NodeCompression",
        "each level of the range works, each other one is an error instead of being clamped"
      ),
      core("config/DecodeBackend", "a level with none is refused, also where none is the default")
    ),
    differs(
      "lz4 has levels 1–16, 4 by default.",
      "they are accepted, and change nothing: the library has one. That is said at start and in config print.",
      core("config/DecodeBackend", "that the lz4 level changes nothing is said")
    ),
    differs(
      "lz4 saves 40–50 %, zstd 50–70 %.",
      "as printed, of real Arrow IPC and NDJSON.",
      bench("compress", "NDJSON logs, lz4, bytes of a segment for each that is stored"),
      bench("compress", "NDJSON logs, zstd 3, bytes of a segment for each that is stored")
    ),
    differs(
      "Ratios on Arrow IPC: lz4 108, zstd-3 181, zstd-9 200.",
      "those were measured on a cycle of bytes.",
      bench("compress", "Arrow IPC, lz4, bytes of a segment for each that is stored"),
      bench("compress", "Arrow IPC, zstd 3, bytes of a segment for each that is stored"),
      bench("compress", "Arrow IPC, zstd 9, bytes of a segment for each that is stored")
    ),
    holds(
      "Segments smaller than 10 KB are uploaded uncompressed, whatever is configured.",
      core("write/Compression", "leaves a body below the threshold raw, and marks it raw")
    ),
    differs(
      "zstd-3 takes 5–10 % of a core.",
      "packing is measured against the bare codec, and by how late the event loop gets.",
      bench("compress", "NDJSON logs, zstd 3, against the bare codec"),
      bench("compress", "p99 of the event loop's delay, zstd 3, logs at 100 MB/s")
    )
  )
]

const rest: ReadonlyArray<ClaimSection> = [
  section(
    "High-Throughput Batch Job",
    differs(
      "aggressive, 4 workers, zstd 3: up to 100K messages at risk.",
      "the configuration decodes and runs; its head says what is at risk, and that is computed.",
      threeTogether,
      numbersOfHeads
    )
  ),
  section(
    "Real-Time Stream with Tight Loss Window",
    holds("low_latency, 2 workers and lz4 go together.", threeTogether, numbersOfHeads)
  ),
  section(
    "Cost-Sensitive Cold Storage",
    holds("aggressive with flush_interval 60s and zstd 9 go together.", threeTogether, numbersOfHeads)
  ),
  section(
    "Validation",
    holds(
      "All configurations are validated at start; workers must be 1–8.",
      core("config/DecodeBackend", "workers … is refused"),
      server("main", "reports a bad configuration without a stack trace, with code 2")
    ),
    holds(
      "compression.level must be in its range: zstd 0–22, lz4 1–16.",
      levels,
      server("config/ServerConfig", "levels out of range or of another type are refused by path")
    ),
    holds(
      "node_id, stream_id and bucket must not be empty.",
      core("config/DecodeBackend", "ids with a slash, of another type, or empty are refused")
    ),
    holds(
      "sync: per_entry is rejected for object_store.",
      core("config/DecodeBackend", "per_entry is refused, and says why"),
      server("config/ServerConfig", "per_entry is refused wherever it stands")
    ),
    differs(
      "A bad configuration fails fast.",
      "all problems come in one report with path, value, rule and line, no request is made, and the exit code is 2.",
      server("config/ServerConfig", "one report names everything, in order of lines, without a secret"),
      server("config/ServerConfig", "the message has source, line, path, rule and value")
    )
  ),
  section(
    "Backward Compatibility",
    holds(
      "Without segment_tuning, parallel_put and compression: balanced, 1 worker, none.",
      core("config/ResolveOptions", "fills in every default")
    ),
    holds(
      "The legacy segment block goes on to work.",
      core("config/DecodeBackend", "segment and segment_tuning both count; the same field in both is an error")
    ),
    differs(
      "Existing deployments see no change.",
      "bare numbers as durations and unset variables are errors here, and a field in both blocks is one.",
      core("config/DurationText", "… lacks a unit, and the rule says so"),
      server("config/ServerConfig", "the same field in segment and segment_tuning is an error with its line")
    )
  ),
  section(
    "Example Configs",
    holds(
      "Five files: baseline, aggressive, parallel, compressed, smoke test.",
      fiveExamples,
      served,
      server("examples/Settings", "are all here, and the page beside them names each"),
      server("examples/Serve", "the command in the head of durability_smoke_test does what stands there")
    )
  )
]

export const durabilitySections: ReadonlyArray<ClaimSection> = [...dimensions, ...rest]
