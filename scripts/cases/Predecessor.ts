/** What an earlier implementation of the same documents gets wrong, in our words, and how this one is built instead. */
import type { CaseText } from "./CaseText.ts"

export const predecessor: ReadonlyArray<CaseText> = [
  {
    number: 1,
    title: "Acknowledged before it is stored",
    risk: "A caller is told that its records are safe while they are only in memory.",
    answer: "`durable` completes when the segment and all before it are stored."
  },
  {
    number: 2,
    title: "The cursor is the highest acknowledged number",
    risk: "What failed below it is never delivered again.",
    answer: "The mark is the highest number with nothing missing below it, in whatever order acknowledgements come."
  },
  {
    number: 3,
    title: "The frontier is a maximum",
    risk: "A later segment that finishes first acknowledges the one still on its way.",
    answer: "The watermark moves over contiguous slots only."
  },
  {
    number: 4,
    title: "A failed upload is put back into the buffer",
    risk: "It overwrites what came in meanwhile.",
    answer: "A sealed segment never changes; it is sent again as it is."
  },
  {
    number: 5,
    title: "Object numbers are used twice",
    risk: "A plain write goes over a segment that is stored already.",
    answer: "Segments are created only where nothing is, and a slot is never given to other records."
  },
  {
    number: 6,
    title: "A failed upload is logged and forgotten",
    risk: "The records are gone and everything after them is acknowledged.",
    answer: "It is tried until it is stored or the log ends, and the watermark waits for it."
  },
  {
    number: 7,
    title: "Checksums cover payloads only",
    risk: "A flipped number or length goes unnoticed, and damage drops the rest of a segment silently.",
    answer: "Header and body have checksums, segments are chained, and every flipped bit is found."
  },
  {
    number: 8,
    title: "A missing segment is skipped",
    risk: "Records that nobody has seen are left out without a word.",
    answer: "Above the cursor it is a typed error with the numbers that are lost."
  },
  {
    number: 9,
    title: "Numbers start again when all segments are gone",
    risk: "New records fall below the stored cursor and are never delivered.",
    answer: "The next number is above every segment, cursor and trim point ever seen."
  },
  {
    number: 10,
    title: "No fencing",
    risk: "A second writer overwrites segments, and the older one wins back the manifest.",
    answer: "Epochs: the manifest is claimed first, and a body of another epoch is never merged with."
  },
  {
    number: 11,
    title: "Variables are taken literally",
    risk: "All nodes get the same identity.",
    answer: "They are put in, and an unset one is an error."
  },
  {
    number: 12,
    title: "HTTP answers before the log has anything",
    risk: "A client throws away what it was told is stored.",
    answer: "The answer comes after durability unless the request asks for less."
  },
  {
    number: 13,
    title: "Blind writes where the store has no conditions",
    risk: "Two writers lose each other's records behind a warning.",
    answer: "Such a store is refused by the probe; going on has to be asked for and has its limits."
  },
  {
    number: 14,
    title: "The codec comes from the configuration",
    risk: "Compressed segments are read as raw and hold no records.",
    answer: "Every object names its codec."
  },
  {
    number: 15,
    title: "No back-pressure",
    risk: "The buffer grows through an outage until the process is killed.",
    answer: "The buffer is bounded in bytes; callers wait or get a typed refusal."
  },
  {
    number: 16,
    title: "The buffer of an outage goes out as one object",
    risk: "It is larger at each try and never arrives.",
    answer: "Segments are cut at their limit when they are sealed."
  },
  {
    number: 17,
    title: "Acknowledging asks the store",
    risk: "Each acknowledgement blocks the output for a request.",
    answer: "Cursors change in memory and are stored with the next segment or manifest."
  },
  {
    number: 18,
    title: "Waiting does not seal",
    risk: "A full window of callers waits for a timer.",
    answer: "Demand seals as soon as a worker is free."
  },
  {
    number: 19,
    title: "Recovery reads everything, twice, into memory",
    risk: "A start takes hours.",
    answer: "Replay starts above the cursor, in parallel and in order, in bounded memory."
  },
  {
    number: 20,
    title: "The manifest lists every segment for ever",
    risk: "It grows to megabytes and is rewritten each time.",
    answer: "Its size has a bound that does not depend on the log."
  },
  {
    number: 21,
    title: "One slow worker stalls all",
    risk: "Segments are dealt in turn, and the turn of the slow one blocks.",
    answer: "Any free worker takes the oldest segment."
  },
  {
    number: 22,
    title: "One undecodable record blocks the start for ever",
    risk: "A log with one damaged body cannot be opened, or cannot be read beyond it.",
    answer:
      "A damaged body keeps nobody from opening and writing. Readers fail by name, or skip and get the lost range " +
      "in its place: from the library, in pages and as an event over HTTP."
  },
  {
    number: 23,
    title: "Closing gives up at the first error",
    risk: "The cursors are not stored, and what was lost stands in a log line.",
    answer: "Closing drains within its time, stores the cursors all the same, and reports the exact range."
  },
  {
    number: 24,
    title: "Eight tries at once",
    risk: "Contending writers stay in step.",
    answer: "Pauses grow and have jitter, and the batch is tried again later."
  },
  {
    number: 25,
    title: "Nothing is deleted",
    risk: "Storage grows for ever.",
    answer: "What every cursor has passed is deleted in batches, after the stored trim point says so."
  },
  {
    number: 26,
    title: "An idle stream writes",
    risk: "Dollars a month for nothing.",
    answer: "An idle log makes no request at all."
  },
  {
    number: 27,
    title: "Three requests a segment",
    risk: "The cost is three times what it could be.",
    answer: "One write a segment, and a small constant for everything else."
  },
  {
    number: 28,
    title: "`sync` is ignored where the examples set it",
    risk: "The durability that was configured is not the one that runs.",
    answer: "It counts wherever it stands, and a value that cannot be kept is refused."
  },
  {
    number: 29,
    title: "`segment_tuning` replaces `segment`",
    risk: "Half of what was configured is dropped.",
    answer: "Both count, and the same field in both is an error."
  },
  {
    number: 30,
    title: "A bad duration is dropped",
    risk: "The default runs instead.",
    answer: "It is an error with its path and its rule."
  },
  {
    number: 31,
    title: "`10MB` does not parse",
    risk: "The documented spelling of a size is refused.",
    answer: "Decimal and binary units are taken, plain integers are bytes."
  },
  {
    number: 32,
    title: "Unknown keys are ignored",
    risk: "A misspelt setting has no effect and says nothing.",
    answer: "They are errors, with the key that was probably meant."
  },
  {
    number: 33,
    title: "Credentials only in the file",
    risk: "No environment, no roles, no session token, no path style.",
    answer: "The default chain of the SDK, session tokens, files that are read again, and path style."
  },
  {
    number: 34,
    title: "Two identities share a prefix",
    risk: "A slash in an id makes two logs write to the same keys.",
    answer: "Ids have an alphabet without a slash."
  },
  {
    number: 35,
    title: "`periodic` does not parse",
    risk: "A documented mode cannot be used.",
    answer: "It parses, and seals by the interval whoever waits."
  }
]
