/** Memory, handles and fibers of one server, sampled over the whole run, and whether they stayed flat. */
import { readdirSync, readlinkSync } from "node:fs"
import { join } from "node:path"
import { type FlatRule, judgeFlatness, ruleText } from "./Flatness.ts"
import { pause, type Run } from "./Run.ts"
import type { ServerProcess } from "./ServerProcess.ts"

const mebibyte = 1_048_576
const sampleEveryMillis = 2_000

interface Series {
  readonly unit: string
  readonly rule: FlatRule
}

/** Memory may grow by a tenth and a little: an allocator does not give everything back. */
const memory: Series = { unit: "MiB", rule: { share: 0.1, constant: 8 } }

/** The rest may not grow; a few more or less are the connections and requests of the moment. */
const count = (unit: string): Series => ({ unit, rule: { share: 0, constant: 12 } })

const allSeries = {
  residentMiB: memory,
  heapMiB: memory,
  externalMiB: memory,
  openFiles: count("files and sockets"),
  sockets: count("sockets"),
  resources: count("resources"),
  fibers: count("fibers")
} as const satisfies Record<string, Series>

type SeriesName = keyof typeof allSeries
const seriesNames = ["residentMiB", "heapMiB", "externalMiB", "openFiles", "sockets", "resources", "fibers"] as const

/** The value of a series without labels in the text of `/metrics`. */
const metricIn = (text: string, name: string): number =>
  Number(new RegExp(`^${name} (\\S+)$`, "m").exec(text)?.[1] ?? Number.NaN)

const countSockets = (pid: number): number => {
  const folder = join("/proc", String(pid), "fd")
  const isSocket = (name: string): boolean => {
    try {
      return readlinkSync(join(folder, name)).startsWith("socket:")
    } catch {
      // Closed since it was listed.
      return false
    }
  }
  return readdirSync(folder).filter(isSocket).length
}

const sampleOf = async (server: ServerProcess): Promise<Record<SeriesName, number> | undefined> => {
  const { pid } = server.child
  const text = await server.get("/metrics").then((answer) => answer.text()).catch(() => undefined)
  if (text === undefined || pid === undefined || !server.running) return undefined
  return {
    residentMiB: metricIn(text, "process_resident_memory_bytes") / mebibyte,
    heapMiB: metricIn(text, "nodejs_heap_size_used_bytes") / mebibyte,
    externalMiB: metricIn(text, "nodejs_external_memory_bytes") / mebibyte,
    openFiles: metricIn(text, "process_open_fds"),
    sockets: countSockets(pid),
    resources: metricIn(text, "nodejs_active_resources"),
    fibers: metricIn(text, "effect_fibers_active")
  }
}

const rounded = (value: number): number => Math.round(value * 10) / 10

export class ProcessSamples {
  readonly series: Record<SeriesName, Array<number>> = {
    residentMiB: [],
    heapMiB: [],
    externalMiB: [],
    openFiles: [],
    sockets: [],
    resources: [],
    fibers: []
  }

  /** Samples until told to stop. A process that is stopped at the moment is left out. */
  async run(server: ServerProcess, until: () => boolean): Promise<void> {
    while (!until()) {
      const sample = await sampleOf(server)
      if (sample !== undefined) { for (const name of seriesNames) this.series[name].push(sample[name]) }
      await pause(sampleEveryMillis)
    }
  }

  /** The last sample. */
  get latest(): Record<string, number> {
    return Object.fromEntries(seriesNames.map((name) => [name, rounded(this.series[name].at(-1) ?? Number.NaN)]))
  }

  /** The levels of the three thirds of the run, and the rule that the last one must keep. */
  judge(run: Run) {
    const judged = seriesNames.map((name) => {
      const { rule, unit } = allSeries[name]
      const flatness = judgeFlatness(this.series[name], rule)
      run.promise(
        flatness.isFlat,
        `${name} is not flat: ${rounded(flatness.middle)} in the second third, ${
          rounded(flatness.end)
        } in the last one, ` +
          `at most ${rounded(flatness.limit)} (${this.series[name].length} samples)`
      )
      return { name, flatness, rule: ruleText(rule, unit) }
    })
    const of = (part: "start" | "middle" | "end" | "limit" | "peak") =>
      Object.fromEntries(judged.map(({ flatness, name }) => [name, rounded(flatness[part])]))
    return {
      samples: this.series.residentMiB.length,
      start: of("start"),
      middle: of("middle"),
      end: of("end"),
      limit: of("limit"),
      peak: of("peak"),
      rules: Object.fromEntries(judged.map(({ name, rule }) => [name, rule]))
    }
  }
}
