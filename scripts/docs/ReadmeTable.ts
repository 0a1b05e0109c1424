/** The table of `README.md` that says how fast it is: rows of the measured blocks of `docs/performance.md`. */
import { markedParts, tableRows } from "./Markdown.ts"

interface Choice {
  readonly bench: string
  /** The row's first cell there. */
  readonly metric: string
  /** What `README.md` calls it. */
  readonly text: string
}

const choice = (bench: string, metric: string, text: string): Choice => ({ bench, metric, text })

/** What somebody wants to know who decides whether to read on. */
const choices: ReadonlyArray<Choice> = [
  choice("append", "a record", "append, for each record of a batch"),
  choice("ack", "p50 of one caller, more than a bare PUT", "a wait for durability in S3, beyond the PUT itself"),
  choice("ack", "PUTs for 64 callers at once", "PUTs for 64 callers who wait at once"),
  choice("requests", "defaults: requests in an idle hour", "requests of an idle log in an hour"),
  choice("takeover", "from an idle writer", "from the decision to take over to the first durable record"),
  choice("local", "16 callers, durable", "local log, 16 callers, each record synced before its answer"),
  choice("local", "16 callers, against a bare file", "the same, against a bare file that does only that"),
  choice("http", "server, durable on the disk", "HTTP server on one core, 1 KiB a request, synced before its answer"),
  choice("http", "server, durable on the disk, against Redis XADD", "the same, against Redis with appendfsync always"),
  choice("recover", "cursor at 0 %, to the first record", "from opening to the first record that is delivered"),
  choice(
    "growth",
    "append time, records in the log: last point against first",
    "time of an append after 100 million records, against after 25,000"
  )
]

const rowOf = ({ bench, metric, text }: Choice, performance: string): ReadonlyArray<string> =>
  markedParts(performance, "bench").filter(({ rest }) => rest === bench)
    .flatMap(({ body }) => tableRows(body)).filter(([what]) => what === metric).slice(0, 1)
    .map(([, median = "", , , , against = ""]) => `| ${text} | ${median} | ${against} |`)

const machineOf = (performance: string): string => {
  const [, processor, cores] = /^`pnpm bench \w+`, [\d-]+, (.+?), (\d+) cores/m.exec(performance) ?? []
  return processor === undefined ? "" : `, on ${cores} cores of an ${processor}`
}

/** The table; rows that were not measured yet are left out. */
const readmeTable = (performance: string): string =>
  [
    `Medians of \`pnpm bench\`${machineOf(performance)}:`,
    "",
    "| what | median | against |",
    "| --- | --- | --- |",
    ...choices.flatMap((each) => rowOf(each, performance))
  ].join("\n")

const block = /(<!-- performance:[^>]*-->\n)[\s\S]*?(<!-- end -->)/

/** The page with its table written anew, from the text of `docs/performance.md`. */
export const withReadmeTable = (readme: string, performance: string): string =>
  readme.replace(block, (_, open: string, close: string) => `${open}\n${readmeTable(performance)}\n\n${close}`)
