/** Failures that others have had and reported in public, each in our words, and what this log does about it. */
import type { CaseText } from "./CaseText.ts"

export const cases: ReadonlyArray<CaseText> = [
  {
    number: 1,
    title: "A conditional write succeeds and its answer is lost",
    risk:
      "The repeat of a write that is stored already is refused by its own condition. Taken for a conflict, it makes " +
      "a writer fence itself or write the change twice.",
    answer: "A refused or unknown write is looked at: its own nonce and checksum (segment) or its own commit id " +
      "(manifest) mean success. Nothing is ever sent again without its condition."
  },
  {
    number: 2,
    title: "A compare-and-swap is answered 409, 412 or 404",
    risk: "Undecided, lost and vanished are three different things, and each has been read as one of the others: " +
      "changes are dropped, or an empty manifest replaces one that was deleted.",
    answer: "409 and unknown answers read the manifest again and build the next try from it, up to eight times with " +
      "pauses, and the batch stays. A manifest that is gone stops the log and is never created anew."
  },
  {
    number: 3,
    title: "The store does not know a header",
    risk:
      "A store without conditional writes, or without checksum headers, passes every connection test and fails, or " +
      "worse ignores, each real write.",
    answer:
      "A probe before the first append checks both conditions one by one and eight at once, and names the check " +
      "that failed. Checksum headers can be switched off; going without conditions has to be asked for."
  },
  {
    number: 4,
    title: "Tags that are no checksums, and quotes that come and go",
    risk: "A tag that is trimmed, compared with a digest or taken from a compressing proxy matches on one vendor and " +
      "never on another.",
    answer: "A tag is an opaque string that is sent back as it came; content is checked by our own checksums. How a " +
      "store wants tags quoted is found out once, and a weak tag is a typed error."
  },
  {
    number: 5,
    title: "A request that never ends",
    risk: "Headers arrive and the body does not, or a write is never answered: the caller waits for ever and sockets " +
      "leak until the client is dead.",
    answer:
      "One deadline covers every attempt from the credentials to the last byte of the body; when it is over the " +
      "socket is closed and the attempt counts as unknown. Bodies are bytes, so any attempt can be repeated."
  },
  {
    number: 6,
    title: "Throttling in every dress",
    risk:
      "503 comes as XML, as a web page or without a body. Clients break on the page, give up, or come back at once " +
      "and in step.",
    answer:
      "The status decides when no code does. Pauses double up to a cap, with jitter, never shorter than what the " +
      "store asked for; key and bytes of a repeat are the same."
  },
  {
    number: 7,
    title: "Credentials end, clocks differ",
    risk:
      "Session credentials that were read once expire in a running process, and a clock that is an hour off makes " +
      "the store refuse signatures.",
    answer:
      "Expired credentials are asked for again once, for all requests that met it, and the request is sent again. " +
      "A skewed clock is corrected from the store's own; what cannot be mended is back-pressure, never a dropped record."
  },
  {
    number: 8,
    title: "Parallel writes finish out of order, then the process dies",
    risk: "Later segments are stored and an earlier one is not. A log that reads past the hole delivers records that " +
      "were never acknowledged, with others missing between them.",
    answer:
      "Nothing counts as durable before everything below it is. The next writer ends the epoch at the hole; what " +
      "lies behind it is garbage that no reader sees and whose numbers are given anew in another epoch."
  },
  {
    number: 9,
    title: "A segment is stored and nothing names it",
    risk: "The crash comes between the segment and the manifest: the records are lost, delivered twice, or judged " +
      "differently by each start.",
    answer:
      "The segments are the log, the manifest only a hint: every start adopts what is stored from the last known " +
      "point up to the first gap, and records where that epoch ended."
  },
  {
    number: 10,
    title: "Two live writers with one identity",
    risk: "A rolling update, a copied configuration or a second replica makes two processes write one log, each over " +
      "the other; or a lock that outlives its holder keeps all out.",
    answer:
      "On object stores the newer writer claims the manifest and puts an end marker into the slots of the older, " +
      "which is fenced at its next write and stays so. On local disk the second is refused, by a lock that ends with its holder."
  },
  {
    number: 11,
    title: "The last segment is torn",
    risk:
      "Power fails in the middle of a write. Logs refuse to start for ever, write on behind the torn bytes, or throw " +
      "everything away.",
    answer:
      "On local disk whole frames are kept, the torn rest is reported once and cut, and new frames go elsewhere. " +
      "In an object store nothing can be torn: there it is damage, by its key and offset."
  },
  {
    number: 12,
    title: "Foreign objects beside ours",
    risk: "Folder placeholders, copies and siblings whose names start alike are read as segments or deleted with them.",
    answer:
      "Only exact names are ours, below a prefix that ends with a slash; all else is counted and never touched. A " +
      "correctly named object that is empty or something else is damage with what was found in it."
  },
  {
    number: 13,
    title: "Thousands of segments at start",
    risk:
      "A listing is cut at a thousand keys and the rest is missing without a word, or replay reads everything one " +
      "by one, or all at once into memory.",
    answer: "Listings are followed to their end and sorted by us. Replay fetches a bounded number ahead, in order, " +
      "starts with the first segment, and leaves out what is committed."
  },
  {
    number: 14,
    title: "The manifest is empty, cut or newer",
    risk: "What cannot be parsed is taken for absent, and a new and empty log is started over the old one.",
    answer: "Anything but a manifest of a known version is refused by name and left as it is; a byte order mark is " +
      "accepted, and fields that are not known survive every rewrite."
  },
  {
    number: 15,
    title: "A small object that unpacks to a large one",
    risk: "A damaged or hostile header makes a reader allocate whatever it claims, or a decoder that trusts a prefix " +
      "blocks the process.",
    answer:
      "The claimed length is checked against the configured limit, and the frame is measured, before a decoder is " +
      "asked. One byte more or less than the header says is damage."
  },
  {
    number: 16,
    title: "Compression levels and edges",
    risk: "Bindings clamp a level without a word, codecs disagree about empty input, and a log that is reopened with " +
      "another codec cannot read itself.",
    answer: "Levels out of range are configuration errors. Small bodies and those that would grow are stored raw and " +
      "marked raw, and each segment names its own codec."
  },
  {
    number: 17,
    title: "Retention against slow readers, failing deletes and jumping clocks",
    risk:
      "Rules of age or size take what nobody has read, a batch delete hides its failures in a success, and a step " +
      "of the clock makes everything old at once.",
    answer:
      "Only whole segments at or below every cursor go, after a stored trim point says so; age is counted in the " +
      "store's own time. Failed deletes are counted and repeated, timers run on the monotonic clock, the clients' " +
      "timestamps decide nothing."
  },
  {
    number: 18,
    title: "A segment disappears behind the log's back",
    risk:
      "A life-cycle rule or a person removes a segment that is still needed. Logs skip it, or take a refused read " +
      "for an absent object.",
    answer:
      "Above the cursor it is a typed error with the lost numbers, or a reported range where skipping was asked " +
      "for; below it a warning. A refused read is never called missing, and rules over the prefix are pointed out at start."
  },
  {
    number: 19,
    title: "The cursor walks backwards",
    risk: "A late commit of an old position overwrites a newer one, and a removed cursor comes back.",
    answer:
      "A lower commit changes nothing. The set of cursors has a revision and the highest wins, whether it stands " +
      "in a header or in the manifest; after a crash only what was stored counts, and closing stores exactly what was committed."
  },
  {
    number: 20,
    title: "The disk fills in the middle of a record",
    risk: "The half that was written stays and later records stand behind it, where no reader gets; or the log stays " +
      "dead once there is room again.",
    answer: "A failed write is cut back or its file is given up, so that nothing stands behind it. What was refused " +
      "never shows, what was accepted waits and is stored as soon as there is room."
  },
  {
    number: 21,
    title: "Durations as people write them",
    risk: "A bare number is taken for milliseconds here and seconds there, and a long interval overflows a timer and " +
      "fires at once.",
    answer: "A duration needs a unit; zero, negative, infinite and empty ones are errors with the path and the rule. " +
      "Long ones are taken and do not fire early."
  },
  {
    number: 22,
    title: "Unset variables, misspelt and doubled keys",
    risk:
      "A missing variable becomes an empty or literal id that all nodes share, and a misspelt key silently leaves " +
      "the default in place.",
    answer: "Variables are put into parsed values; unset and blank ones are errors. So are unknown and doubled keys, " +
      "all in one report with lines, before any request and without a secret in it."
  },
  {
    number: 23,
    title: "HTTP bodies that are slow, endless or too large",
    risk: "Limits that look at the declared length never see a chunked body, and clients that drip hold everything up.",
    answer: "Bytes are counted as they arrive and as they unpack, heads and bodies have deadlines, and nothing of a " +
      "broken request is appended."
  },
  {
    number: 24,
    title: "Byte order marks, line ends and raw bytes",
    risk: "Splitting and decoding text drops the first record, cuts characters, or changes numbers.",
    answer:
      "Lines are split on bytes and payloads are kept as they were sent. A line that is not JSON refuses the whole " +
      "call by its number."
  },
  {
    number: 25,
    title: "Nothing, too much, very many",
    risk:
      "Empty records vanish, idle timers write, one large record blocks all behind it, and a batch larger than the " +
      "buffer waits for ever.",
    answer:
      "Empty records are records, an empty call uses no number, an idle log sends nothing. A large record gets a " +
      "segment of its own up to its limit, and a large batch is taken piece by piece."
  },
  {
    number: 26,
    title: "SIGTERM with work in flight",
    risk: "Buffered records wait for a timer or a long pause while the grace period runs out.",
    answer:
      "Closing refuses appends, seals at once, cuts pauses short, drains within its time, and reports exactly what " +
      "was left. A second signal ends the process."
  },
  {
    number: 27,
    title: "A label that breaks the scrape",
    risk: "A quote or a newline in a label makes the whole scrape invalid, and ids as labels grow without end.",
    answer:
      "Labels are escaped and come from known sets, never from messages or keys; the series of a closed log are " +
      "gone. The endpoint answers in every state."
  }
]
