/** The kinds of faults, and for each the question behind the tests that no report has asked for: its twins. */
import type { KindText } from "./CaseText.ts"

export const kinds: ReadonlyArray<KindText> = [
  {
    letter: "A",
    title: "Commit",
    cases: [1, 2],
    risk: "An answer is lost, and before it can be looked up somebody else has acted on what it did.",
    answer: "What is read back decides: another epoch or nonce there means fenced, whatever became of our write."
  },
  {
    letter: "B",
    title: "Dialect",
    cases: [3, 4],
    risk: "A store or a box before it answers in a way that looks like success, or like a refusal, and is neither.",
    answer:
      "A success with something in its body that does not belong there is unknown; a refusal that cannot be true " +
      "is looked at and asked again."
  },
  {
    letter: "C",
    title: "Transport",
    cases: [5],
    risk: "Listings and deletes hang as well as reads and writes, and a listing can lead round in circles.",
    answer:
      "Every request has the deadline, and a page token that comes again ends the listing with an error that holds " +
      "up neither the manifest nor deletion."
  },
  {
    letter: "D",
    title: "Outage",
    cases: [6],
    risk: "The store refuses one kind of request only, so that one half of the log works and the other does not.",
    answer: "Each part waits for what it needs alone: appends go on without the manifest, and without reads."
  },
  {
    letter: "E",
    title: "Credentials and time",
    cases: [7],
    risk: "Credentials end in the middle of a take-over, or the machine that takes over has another date.",
    answer:
      "The request is sent again with new credentials wherever that happens, and the time of appending never falls."
  },
  {
    letter: "F",
    title: "Crash order",
    cases: [8, 9],
    risk: "The crash comes in the first moments of a new epoch, and again in the openings after it.",
    answer:
      "Each opening is a sequence of conditional writes that can stop anywhere, and every later one finds the same log."
  },
  {
    letter: "G",
    title: "Fencing",
    cases: [10],
    risk: "More than two openers at once, some of them paused at the worst place and resumed much later.",
    answer:
      "The manifest belongs to the highest epoch; a late one learns it from the first write or look that it makes."
  },
  {
    letter: "H",
    title: "Corruption",
    cases: [11, 14],
    risk: "Objects are whole and valid and belong to another log: a copied manifest, a restored segment.",
    answer:
      "Each object carries the id of its log, its epoch and its slot, and is damage anywhere else; what is there " +
      "is not overwritten."
  },
  {
    letter: "I",
    title: "Listings and names",
    cases: [12],
    risk: "Keys that differ from ours in case, in a digit, in an escape or in a blank are taken for ours.",
    answer: "One pattern of fixed width says what is ours."
  },
  {
    letter: "J",
    title: "Compression",
    cases: [15, 16],
    risk: "Checksums are right and the frame is not what it should be: two frames, something behind it, another codec.",
    answer: "A body is exactly one whole frame of the codec that its header names, and nothing else."
  },
  {
    letter: "K",
    title: "Retention",
    cases: [17, 18],
    risk: "The store's own time jumps or is missing, and deletion overtakes a reader in the middle of a segment.",
    answer: "What could be young is kept. A reader gets what it holds and then a typed error, never a hole."
  },
  {
    letter: "L",
    title: "Scale",
    cases: [13],
    risk: "Pages come in no order, with repeats, empty, or behind what is stored.",
    answer:
      "Slots are sorted and counted once, and the end of a log is where a create says so, not where a listing ends."
  },
  {
    letter: "M",
    title: "Cursor",
    cases: [19],
    risk: "Acknowledged ranges overlap, come in any order, or name a cursor that is also a property of every object.",
    answer: "Ranges are joined, the mark stands before the first hole, and names are looked up as keys only."
  },
  {
    letter: "N",
    title: "Local disk",
    cases: [20],
    risk: "The file system turns read-only, a permission is lost, a read fails, a file is cut.",
    answer:
      "Nothing is durable and nothing is dropped until it works again; what cannot be read now is not called damage, " +
      "what is damaged is."
  },
  {
    letter: "O",
    title: "Configuration",
    cases: [21, 22],
    risk: "YAML has its own ideas of numbers, switches and merged blocks, and variables bring blanks along.",
    answer:
      "What a merge brings in is checked as if it stood there, words are no switches, and an id with a blank in it " +
      "is refused."
  },
  {
    letter: "P",
    title: "HTTP",
    cases: [23, 24],
    risk: "Pipelined requests, two lengths, a promise to send later, another character set.",
    answer: "Requests are answered in their order, framing that can be read in two ways is refused, and text is UTF-8."
  },
  {
    letter: "Q",
    title: "Messages",
    cases: [25],
    risk: "Records that are all key or all headers, and segments filled to their limits with them, pass a check and " +
      "cannot be read back.",
    answer: "All parts of a record count, and what the limits let in, they let out."
  },
  {
    letter: "R",
    title: "Shutdown",
    cases: [26],
    risk: "Closing meets fencing, a second close, or an opening that is still on its way.",
    answer:
      "Closing ends in time with one report, writes nothing over a newer writer, and an opening that is given up " +
      "leaves a log that opens."
  },
  {
    letter: "S",
    title: "Metrics",
    cases: [27],
    risk: "Values that are no numbers, and scrapes in the middle of a close.",
    answer: "The exposition stays valid, and it is answered from memory without asking the store."
  }
]
