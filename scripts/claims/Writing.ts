/** How the log takes and sends records: what must hold of it. */
import { bench, type ClaimSection, core, holds, model, mutation, s3, section, suite } from "./Claim.ts"

export const writingSections: ReadonlyArray<ClaimSection> = [
  section(
    "Appending",
    holds(
      "append copies the bytes, gives dense numbers, and waits only for room.",
      core("write/Append", "copies the bytes: a caller may reuse its buffer"),
      core("write/Append", "gives dense numbers from 1, and carries every field"),
      mutation("records are not copied")
    ),
    holds(
      "appendNow fails BufferFull instead of waiting, and accepts all or nothing.",
      core("write/Append", "appendNow accepts all or nothing")
    ),
    holds(
      "Interrupting one caller never hurts another.",
      core("write/Append", "is not hurt by the interruption of another caller"),
      core(
        "node/journal/JournalWriter",
        "an interrupted caller takes back what waits, waits for what is written, and hurts nobody"
      )
    ),
    holds(
      "Nothing that is not durable is shown to a reader or can be committed.",
      core("read/Replay", "shows nothing that is not durable"),
      core("cursor/Cursors", "refuses what is not durable"),
      mutation("readers see what is not durable"),
      model("cursor-below-durable")
    ),
    holds(
      "A batch that spans segments can survive a crash as a prefix.",
      suite("Append", "a batch spans segments; a crash in the middle of it leaves a prefix")
    ),
    holds(
      "Numbers end at 2^53 − 1 with a typed error.",
      core("write/Sizes", "end at 2^53 - 1 with a typed error, and never repeat")
    ),
    holds(
      "A record larger than max_bytes has its own segment; beyond max_record_bytes it is RecordTooLarge.",
      core("write/Sizes", "gives a record above max_bytes its own segment, and neighbours theirs"),
      core("write/Sizes", "refuses a record above max_record_bytes for that call only")
    )
  ),
  section(
    "Sealing",
    holds(
      "A segment is sealed by entries, bytes, interval, flush, or demand after linger: 1 s, 100 ms, 5 ms by preset.",
      core("write/Sealing", "by demand after linger, when somebody waits"),
      core("write/Sealing", "the preset … lingers … ms for who waits"),
      core("write/Sealing", "by flush, without waiting for anything"),
      mutation("who waits for an append is ignored")
    ),
    holds(
      "Demand does not turn into one PUT a record: while all workers are busy, the open segment gathers.",
      core("write/Sealing", "64 callers that wait share one PUT while a PUT is under way"),
      core("model/AckLatency", "…: up to … PUT/s while somebody waits"),
      { kind: "bench", bench: "ack", metric: "PUTs for 64 callers at once" }
    ),
    holds(
      "An empty segment is never sealed.",
      core("write/Append", "uses no number for an empty batch, and stores nothing")
    ),
    holds(
      "A budget of PUTs stretches linger up to flush_interval, and nothing else.",
      core("write/StretchedLinger", "gets as many PUTs as the budget allows, and each answer within the interval"),
      core("write/StretchedLinger", "a full segment is not held back, and is paid for by who waits later"),
      bench("linger", "PUTs, against the budget of the time")
    )
  ),
  section(
    "PUTs",
    holds(
      "From the first PUT on a segment's bytes never change, and no slot is sent more than a window ahead.",
      core("write/Durability", "sends no slot further than the window beyond the first that is not stored"),
      mutation("bytes change while they are sent"),
      mutation("a PUT is repeated with other bytes"),
      model("window")
    ),
    holds(
      "Retries back off with jitter, capped, never sooner than the store asked.",
      core("store/StoreRetry", "doubles, with jitter between half and all of it, up to the cap"),
      core("store/StoreRetry", "is never shorter than what the store asked for, even above the cap"),
      core("write/Outage", "retries with growing, capped, jittered pauses; no two workers in step")
    ),
    holds(
      "A taken key is looked at: mine, an end marker, or SegmentConflict.",
      core("write/Durability", "takes its own stored object for success when the answer was lost: …"),
      core("write/PutOutcome", "fences me where it is an end marker of this slot, and says whose"),
      core("write/Durability", "stops with SegmentConflict when a foreign object has its key, and leaves it alone"),
      model("taken-key-is-looked-at"),
      model("marker-says-nothing-below")
    ),
    holds(
      "403, a missing bucket and expired credentials are waited out; nothing is dropped.",
      core("write/Outage", "keeps everything while the store answers …, and goes on without a restart"),
      s3("S3Credentials", "(a) expired credentials: one refresh for all requests, each sent again with the new ones")
    ),
    holds(
      "An error inside a 200 is unknown, not success.",
      s3("S3Store", "of a PUT is unknown, not success"),
      s3("S3Answer", "an error inside a success is unknown, whatever it claims")
    ),
    holds(
      "Hedging sends a slow PUT once more; the first definite answer counts, and the share of requests is bounded.",
      core("write/Hedging", "that has landed and is not answered is found by a second one, and counts once"),
      core(
        "write/Hedging",
        "no larger share of requests is sent again than lies above the percentile, whatever the store does"
      ),
      bench("hedge", "p99.9 of durability, p95 against off"),
      bench("hedge", "requests, p95 against off"),
      mutation("a buffer is reused while an attempt can read it")
    ),
    holds(
      "Each attempt has a deadline, and the SDK repeats no conditional write.",
      s3("S3Deadlines", "(b) a PUT that is never answered is TimedOut with an unknown outcome, its socket closed"),
      s3("S3Writes", "a create that was stored and whose answer was lost is one request, then AlreadyExists")
    )
  ),
  section(
    "Closing",
    holds(
      "Close refuses appends, seals, drains, writes manifest and cursors, within a time, and reports what is left exactly.",
      core("log/Close", "seals and stores what is open, then the manifest with the cursors, and needs no clock"),
      core("log/Close", "refuses appends from its start on, also those that wait for room"),
      core("log/Close", "ends in time and reports all when the store is down"),
      mutation("closing does not drain")
    ),
    holds(
      "WriterFenced is final: no opening again by itself, and closing writes nothing.",
      core("write/Durability", "is fenced by a newer writer for good: waiting and later calls fail with it"),
      core(
        "twins/R-shutdown",
        "a log that was taken over and does not know it yet: what the newer one has is untouched"
      ),
      core(
        "scenarios/04-two-writers",
        "an end marker at n says nothing about the slots below n: confirmed ones are still acknowledged"
      )
    )
  )
]
