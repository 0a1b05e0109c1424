/** Processes on one core each, so that what is compared has the same share of the machine, and its client another one. */
import { spawnSync } from "node:child_process"
import { readFileSync } from "node:fs"

/** The numbers in a list as the kernel writes it: `0-3,8`. */
export const coresIn = (list: string): ReadonlyArray<number> =>
  list.trim().split(",").filter((part) => part !== "").flatMap((part) => {
    const [first = 0, last = first] = part.split("-").map(Number)
    return Array.from({ length: last - first + 1 }, (_, index) => first + index)
  })

/** The cores that this process may use; none where the kernel does not say. */
const allowedCores = (): ReadonlyArray<number> => {
  try {
    return coresIn(/^Cpus_allowed_list:\s*(\S+)$/m.exec(readFileSync("/proc/self/status", "utf8"))?.[1] ?? "")
  } catch {
    return []
  }
}

/** What goes before a command, so that it runs where it is told to. */
export interface Cores {
  readonly server: ReadonlyArray<string>
  readonly client: ReadonlyArray<string>
  /** Why processes run wherever the kernel puts them; absent where they do not. */
  readonly problem?: string
}

/** One core for the servers and another one for their client, by `taskset`. */
export const findCores = (): Cores => {
  const [server, client] = allowedCores()
  const none = { server: [], client: [] }
  if (server === undefined || client === undefined) return { ...none, problem: "there are not two cores to choose" }
  if (spawnSync("taskset", ["--version"]).error !== undefined) return { ...none, problem: "taskset is missing" }
  return { server: ["taskset", "-c", String(server)], client: ["taskset", "-c", String(client)] }
}
