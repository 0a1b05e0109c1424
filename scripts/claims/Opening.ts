/** How the log opens, what it asks of its store, and what it keeps there: what must hold of it. */
import { bench, type ClaimSection, core, holds, model, rule, s3, section, suite, testing } from "./Claim.ts"

export const openingSections: ReadonlyArray<ClaimSection> = [
  section(
    "Opening and taking over",
    holds(
      "The manifest is claimed first; no older writer moves the trim point or a cursor afterwards.",
      core("scenarios/04-two-writers", "the older writer cannot move the trim point, a cursor or the checkpoint"),
      core("manifest/ManifestStore", "never merges over another epoch or nonce, and says whose it is"),
      model("never-merge-another-epoch"),
      rule("the claim raises the epoch")
    ),
    holds(
      "No segment is sent before the activation is confirmed.",
      core(
        "scenarios/04-two-writers",
        "nothing is sent before the activation is confirmed, and a time-out does not confirm it"
      ),
      model("send-after-activation")
    ),
    holds(
      "Six round trips, no clock, no lease, no wait.",
      core(
        "epoch/RoundTrips",
        "six to the first durable record, from a writer that is still there, and no wait for a clock"
      ),
      bench("takeover", "from an idle writer")
    ),
    holds(
      "A slot that something above knows to be durable is a loss, not the end: SegmentMissing, and nothing is written.",
      core("scenarios/05-damage-refused", "a removed slot that later headers know to be durable is refused"),
      core("scenarios/05-damage-refused", "a cursor that is above what is left is a loss"),
      rule("what headers above know to be durable is a loss"),
      rule("what a cursor has passed is a loss")
    ),
    holds(
      "Chasing a busy writer ends.",
      core(
        "scenarios/04-two-writers",
        "a busy writer is caught: a barrier stops it, the opening ends after few rounds, nothing acked is lost"
      ),
      model("barrier")
    ),
    holds(
      "A recorded end outranks every object, and end markers are never deleted.",
      core(
        "scenarios/05-damage-refused",
        "outranks what lies elsewhere: a marker or a segment beyond the recorded end changes nothing"
      ),
      core("scenarios/05-damage-refused", "that is missing is put back"),
      core("scenarios/05-damage-refused", "whose place holds data is EndMarkerLost"),
      model("marker-stays"),
      rule("data at a recorded end is loud")
    ),
    holds(
      "Segments without a manifest are refused, not overwritten by a new log.",
      core("scenarios/06-manifest", "that is missing beside segments is refused, also behind a page of foreign objects")
    ),
    holds(
      "Opening has a time limit, open_timeout, and nothing is half-done then.",
      core(
        "scenarios/01-crash-while-opening",
        "a store that never answers is OpenTimeout, at whatever request; the log can be opened afterwards"
      )
    ),
    holds(
      "Listings may come in any order, with repeats and in pages: slots are sorted here.",
      core("scenarios/01-crash-while-opening", "in small pages, in any order and with repeats, finds the same end"),
      core("twins/L-scale", "a hole in it that is no hole in the store is not taken for the end")
    ),
    holds(
      "Orphans and late slots are garbage to the collector, and no damage to readers and verify.",
      core("scenarios/07-collector", "collects orphans, by the recorded end, once the trim point enters a new epoch"),
      core(
        "verify/Healthy",
        "a log with orphans, barriers, ghosts below the trim point and foreign objects: all are counted"
      )
    ),
    holds(
      "The same identity twice in a process is AlreadyOpen.",
      core("log/Several", "the same identity twice in a process: AlreadyOpen, until the first is closed")
    )
  ),
  section(
    "The store",
    holds(
      "Conditional writes are probed before the first append; a store that fails is refused, and holds nothing afterwards.",
      core(
        "epoch/StoreProbe",
        "opening a log probes before anything else; a store that fails the probe holds nothing afterwards"
      ),
      core("epoch/StoreProbe", "several winners of a race of creates, which one after another does not show"),
      core("epoch/StoreProbe", "lost answers and 409s, to each request, do not condemn a good store")
    ),
    holds(
      "A store that wants ETags unquoted is found out.",
      s3("EtagSpelling", "a store that wants tags unquoted: found out once, then 20 replaces are 20 PUTs")
    ),
    holds(
      "The directory store has both conditions for real, across processes, and keeps what it answered after a power loss.",
      core("node/DirectoryProcesses", "each key that two processes create at once goes to exactly one of them"),
      core("node/DirectoryProcesses", "no replace is lost and none is done twice"),
      core(
        "node/PowerLossDirectory",
        "what was answered is there afterwards, what was refused was refused rightly, nothing else appears"
      ),
      core("node/PowerLossDirectory", "a disk that does not do what it is asked is found out")
    ),
    holds(
      "Network file systems are refused unless allowed.",
      core("node/DirectoryObjectStore", "network file systems are refused unless allowed")
    ),
    holds(
      "A real S3 server does all of it.",
      s3("S3ObjectStore.integration", "a bucket that is not there is NoSuchBucket, for reads and writes"),
      s3("Log.integration", "a log on a real S3 server")
    ),
    holds(
      "Foreign objects are counted and never touched.",
      core(
        "scenarios/07-collector",
        "never touches foreign objects, end markers, siblings, or what is not a segment of this log"
      ),
      core("read/Missing", "foreign objects are no segments")
    )
  ),
  section(
    "Manifest",
    holds(
      "It is off the ack path, has one size however long the log is, and one write in flight.",
      core("scenarios/06-manifest", "has one size for 20 and for 2,000 segments, for one PUT a segment"),
      core("manifest/SparseIndex", "stays bounded, ascending, and keeps the newest half dense"),
      bench("growth", "commit time, segments in the log: last point against first")
    ),
    holds(
      "A try has succeeded by a 200, or when what is read back has the id of that very body.",
      core("manifest/ManifestStore", "succeeds when what is read back has the id of that very body"),
      model("earlier-commit-is-not-this-one"),
      rule("an earlier commit id is not this one")
    ),
    holds(
      "A manifest that vanishes is ManifestVanished and is not made anew; one that does not decode refuses to start.",
      core("scenarios/06-manifest", "that vanishes under an open writer stops it, and is not created again"),
      core("scenarios/06-manifest", "that does not decode, or has a newer version, is refused and left as it is")
    ),
    holds(
      "Unknown fields survive a rewrite.",
      core("format/ManifestCodec", "keeps the fields that it does not know through a rewrite")
    ),
    holds(
      "Values in it only rise.",
      core("manifest/Manifest", "keep their invariants over any life of a log"),
      core("manifest/Manifest", "a commit never takes anything back")
    ),
    holds(
      "At most 64 cursors, and above 256 ended epochs the oldest move to an archive.",
      core("cursor/Cursors", "at most 64, with names of the alphabet"),
      core("manifest/Manifest", "the oldest half of the ends moves out when the list is full"),
      core(
        "scenarios/08-many-epochs",
        "400 epochs with data: archived ends are read, the trim point does not jump, then all of it goes"
      )
    )
  ),
  section(
    "Format",
    holds(
      "Every byte is as docs/format.md says.",
      core("format/format-doc", "the header table is the header, field by field, without a gap"),
      core("format/format-doc-body", "the tables read a body that the code wrote, to its last byte"),
      core("format/format-doc-journal", "the table of a file is its header, field by field, without a gap")
    ),
    holds(
      "A log of each released version opens.",
      core("format/FormatVersion1", "the whole log opens, reads and goes on")
    ),
    holds(
      "Every flipped bit and every cut is found; a newer version is told apart from damage.",
      core("read/Damage", "every byte counts: a flipped bit anywhere is noticed"),
      core("format/SegmentHeader", "that is cut at any byte is damage, at the place of the cut"),
      core("format/SegmentHeader", "of a newer version, kind, codec or with an unknown critical extension is too new")
    ),
    holds(
      "Nothing is unpacked or allocated above the limit, whatever a header says.",
      core("read/LyingHeader", "8 KB that unpack to 256 MiB are not unpacked"),
      core("read/LyingHeader", "an lz4 length prefix that claims 4 GiB is refused at once"),
      testing("fuzz/FuzzRun", "takes a broken rule and a defect for a failure, and makes the input small")
    ),
    holds(
      "The codec is read from the object, never from the configuration.",
      core("write/Compression", "reads by the codec of each segment, not of the configuration"),
      suite("Compression", "one log with the codec changed at each start reads back whole")
    )
  )
]
