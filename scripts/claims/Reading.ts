/** How the log reads, deletes, and stands on a disk: what must hold of it. */
import {
  acceptance,
  bench,
  type ClaimSection,
  core,
  holds,
  model,
  rule,
  script,
  section,
  server,
  suite
} from "./Claim.ts"

export const readingSections: ReadonlyArray<ClaimSection> = [
  section(
    "Cursors",
    holds(
      "ack takes any order; the mark moves over what is contiguous and never passes an unacked record.",
      core("cursor/AckRanges", "the mark is the highest contiguous number, in any order, with repeats and failures"),
      core("cursor/Cursors", "holds at most max_ahead ranges above the mark")
    ),
    holds(
      "commit: a lower one changes nothing, one above the durable watermark is refused.",
      core("cursor/Cursors", "8 commits at once, in any order: the highest wins; a lower one later is a no-op"),
      core("cursor/Cursors", "refuses what is not durable")
    ),
    holds(
      "A removed cursor stays removed, a new one starts no lower than what is deleted.",
      core("cursor/Cursors", "a removed one stays removed, whatever older headers say"),
      core("cursor/NewCursor", "starts at the new trim point, not below what is being deleted")
    )
  ),
  section(
    "Reading",
    holds(
      "Replay fetches 16 segments side by side, in order, the first record after the first segment.",
      core("read/Scale", "10,000: in order, GETs in flight within the prefetch, first record before the last GET"),
      bench("recover", "cursor at 99 %, segments fetched")
    ),
    holds(
      "A live reader that keeps up makes no request; one that is slow goes to the store; one that is overtaken gets Trimmed.",
      core("read/Replay", "is fed from memory: no request at all"),
      core("read/Replay", "falls back to the store when it is slower, and misses nothing"),
      core("read/Replay", "gets Trimmed when deletion has overtaken it")
    ),
    holds(
      "Progress is told: records, bytes, segments, after each segment.",
      core("read/Replay", "says how far it is, after each segment"),
      suite("Read", "a replay starts after the mark, ends at the durable end, and tells how far it is")
    ),
    holds(
      "An absent, a damaged and an unreachable segment are three different errors.",
      core("read/Missing", "… is never \"missing\", also with skip; what stands before is delivered"),
      suite("Damage", "a segment that may not be read is AccessDenied, never missing; a single 404 is asked again")
    ),
    holds(
      "Reading by time follows appended_at, which never falls.",
      core("read/Replay", "by time: the first record appended at or after it, though the clock stepped back"),
      core("write/Append", "stamps appended_at from the clock, and never lets it fall when the clock steps back")
    ),
    holds(
      "A WalReader writes nothing and does not disturb the writer.",
      core("WalReader", "shows what is durable, changes no byte, and does not disturb the writer"),
      suite("Read", "a reader of its own sees what is durable and writes nothing")
    ),
    holds(
      "Segments follow each other by number and by chain: swapped and replaced ones are found.",
      core(
        "scenarios/10-swapped-segments",
        "because it was replaced by one with other records is found at the next one"
      ),
      core("scenarios/10-swapped-segments", "because two were swapped is damage")
    )
  ),
  section(
    "Deleting",
    holds(
      "Only whole segments at or below every cursor, only after the manifest says so.",
      core("scenarios/07-collector", "takes whole segments at or below every cursor, after the manifest says so"),
      model("trim-below-cursor"),
      rule("nothing is trimmed above the lowest cursor")
    ),
    holds(
      "Failed deletes, also those hidden in a 200, are counted and repeated.",
      core("scenarios/07-collector", "that fails, as a whole or for some keys, is counted and tried again")
    ),
    holds(
      "Never by the local clock: age is the difference of two time stamps of the store.",
      core("twins/K-retention", "years ahead for one segment: it and what follows is kept, what was before it goes"),
      suite(
        "Retention",
        "a wall clock that jumps ten years on and a day back deletes nothing uncommitted and stops no timer"
      )
    ),
    holds(
      "The status says which cursor holds back deletion.",
      core("cursor/Cursors", "the slowest holds back deletion, and the status says which")
    )
  ),
  section(
    "The local log",
    holds(
      "The same suite holds it as every other backend; the second process is refused.",
      suite("Writer", "a second writer is refused at once; when the first is gone it opens, with no manual step"),
      core("node/LocalLog", "keeps what was durable, and a restart goes on behind it")
    ),
    holds(
      "What was answered survives a power loss at any call, torn writes and one failed sync.",
      core(
        "node/PowerLossLocal",
        "what was answered is there afterwards, what was refused was refused rightly, nothing else appears"
      ),
      core(
        "node/PowerLossLocal",
        "a sync that fails once, whichever: it is answered as unknown, and what is written again is durable"
      ),
      core("node/PowerLossLog", "a disk that does not do what it is asked is found out"),
      rule("a file whose sync failed is given up")
    ),
    holds(
      "A torn tail is cut with a report and never called damage; damage is told.",
      core(
        "node/journal/JournalTornTail",
        "every cut and every zeroed end of the last write: whole frames before it stay, nothing else"
      ),
      core(
        "node/journal/JournalTornTail",
        "a flipped bit in the middle is told loudly; nothing is cut, the frames behind it are there"
      )
    ),
    holds(
      "A full disk refuses appends with DiskFull, keeps what it took, and goes on once there is room.",
      suite(
        "Outage",
        "a full disk refuses appends with DiskFull, keeps what it took, and takes more once there is room"
      ),
      server("disk-full", "only a 507 that can be repeated says when"),
      acceptance("full-disk")
    ),
    holds(
      "The lock is the kernel's and ends with its holder, also after kill -9.",
      core("node/SpoolDirectory", "is one process's at a time, and free when that one is killed"),
      core("node/journal/JournalLock", "a second opening in this process is refused at once and changes nothing")
    )
  ),
  section(
    "The spool",
    holds(
      "Input goes on until max_bytes while the store is away; uploads resume in order.",
      core("spool/Outage", "takes input far beyond the buffer, in order, and empties the spool afterwards"),
      core("spool/Outage", "stops input at the bound of the spool, and not before; goes on when it drains"),
      acceptance("spool")
    ),
    holds(
      "What was spooled is in the log once, whoever had it in between, and after a second crash.",
      core("spool/Recovery", "is appended again, once, with new numbers, where another node has taken the log over"),
      core("spool/Recovery", "a second crash after … copies appends nothing twice"),
      core(
        "node/PowerLossSpool",
        "what was answered as spooled is in the log once, whether or not somebody had the log in between"
      ),
      model("origin-mark")
    ),
    holds(
      "A spooled slot goes only when the watermark covers it, and a copy stays until it is durable.",
      core(
        "spool/Crashes",
        "slots that have no copy are kept until the manifest, or the header of a later copy, says that they are done"
      ),
      model("spool-drop-when-durable"),
      model("copies-pin-the-spool"),
      rule("nothing is dropped from the spool that is not durable")
    ),
    holds(
      "Where nothing says how an epoch ended, the start is SpoolUndecided.",
      core("spool/Recovery", "a spool that nothing in the store explains is refused, and nothing is changed"),
      rule("a spool of an epoch without an end is refused")
    ),
    holds(
      "accepted, spooled and durable are told apart.",
      core("spool/Outage", "tells the levels apart: accepted, then spooled, then durable")
    )
  ),
  section(
    "Appending once",
    holds(
      "A repeat of a producer's call gets the numbers of the first, also after restart and take-over.",
      core(
        "scenarios/13-appending-once",
        "after a take-over is answered by the new writer, and fails at the fenced one"
      ),
      core(
        "scenarios/13-appending-once",
        "after a kill is answered from the segments, within the newest five of its producer"
      ),
      model("repeat-is-answered"),
      rule("a repeat is answered, not appended")
    ),
    holds(
      "It costs no request, and memory for it is bounded by producers.max and producers.ttl.",
      core(
        "log/Requests",
        "a producer costs none: the same requests with and without, in a run with manifests and deletions"
      ),
      core("write/ProducerAppend", "beyond `max`, the one whose newest call is oldest first"),
      core("write/ProducerAppend", "`ttl` after their newest call")
    )
  ),
  section(
    "Several logs in a program",
    holds(
      "By name with Wal.Tag, by id with WalMap, typed with TypedWal.",
      core("log/Several", "in one program, each a service of its own, on one store"),
      core("WalReader", "opens each stream once and shares it"),
      core("TypedWal", "gives back values of the schema, with number, time, key, headers and timestamp of the value")
    )
  ),
  section(
    "Verify and repair",
    holds(
      "verify finds from objects alone what is missing, doubled, swapped or flipped, and nothing in a healthy log.",
      core("verify/Damage", "a flipped bit in a segment or an end marker, wherever it is"),
      core("verify/Healthy", "a log of producers, cursors and trimmed parts, in each state of its life"),
      core("verify/Manifest", "names each contradiction of a manifest with itself")
    ),
    holds(
      "A repair needs the word that no writer runs, removes nothing, and keeps a copy of what it replaces.",
      core("repair/Apply", "needs the word that no writer runs"),
      core("repair/Apply", "nothing is removed, whatever is wrong"),
      core("repair/Apply", "keeps a copy of what is damaged and of what is replaced")
    )
  ),
  section(
    "How it is tried",
    holds(
      "A simulator walks the real code; left out of the code, each rule is found.",
      script("mutations", "there are many, each with a name of its own"),
      { kind: "command", run: "sim --mutations", file: "scripts/sim.ts" }
    ),
    holds(
      "A model of the protocol is explored completely; each rule of it, dropped, is missed.",
      { kind: "test", file: "packages/testing/test/model/Bounds.test.ts", title: "keeps every promise: $name, $about" },
      { kind: "test", file: "packages/testing/test/model/Rules.test.ts", title: "breaks a promise: …" }
    ),
    holds(
      "Each decoder takes any bytes, and answers with a typed error or with what comes back the same.",
      { kind: "command", run: "fuzz", file: "scripts/fuzz.ts" },
      script("fuzz", "has the same inputs and the same result for the same seed")
    ),
    holds(
      "Failures that other systems have had are tests here.",
      script("cases", "has every number and every letter, each with a test")
    )
  )
]
