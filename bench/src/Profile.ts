/** Where the processor's time goes in the rounds of one contender, as the runtime's own sampling profiler sees it. */
import { type Profiler, Session } from "node:inspector/promises"
import { fileURLToPath } from "node:url"

/** Microseconds between samples: short enough for calls of some microseconds, long enough to change little. */
const samplingMicros = 250

/** Time that is not spent by the program: it waits, or the profiler itself works. */
const notWork = new Set(["(idle)", "(root)"])

/** Samples of one place, `at`: a file of ours, a package, or a part of the runtime. */
export interface ProfilePart {
  readonly at: string
  /** Of all samples in which the processor worked, 0 to 1. */
  readonly share: number
}

type Frame = Profiler.ProfileNode["callFrame"]

const dependency = /node_modules\/(?!\.pnpm\/)((?:@[^/]+\/)?[^/]+)\//g

/** What a sample is counted for. Our own sources by file, others by package. */
export const placeOf = ({ functionName, url }: Pick<Frame, "functionName" | "url">, root: string): string => {
  if (url === "") return functionName.startsWith("(") ? functionName : "natives of the runtime"
  if (url.startsWith("node:")) return "node"
  const path = url.startsWith("file:") ? fileURLToPath(url) : url
  const [, name] = [...path.matchAll(dependency)].at(-1) ?? []
  if (name !== undefined) return name
  return path.startsWith(root) ? path.slice(root.length + 1) : path
}

/** Shares of the places, largest first. */
export const partsOf = (profiles: ReadonlyArray<Profiler.Profile>, root: string): ReadonlyArray<ProfilePart> => {
  const counts = new Map<string, number>()
  let all = 0
  for (const { nodes, samples = [] } of profiles) {
    const places = new Map(nodes.map(({ callFrame, id }) => [id, placeOf(callFrame, root)]))
    for (const id of samples) {
      const at = places.get(id) ?? "(root)"
      if (notWork.has(at)) continue
      counts.set(at, (counts.get(at) ?? 0) + 1)
      all++
    }
  }
  return [...counts].map(([at, count]) => ({ at, share: count / all })).sort((left, right) => right.share - left.share)
}

/** Places below this share are told together. */
const smallShare = 0.01

/** A table in Markdown. */
export const profileText = (name: string, parts: ReadonlyArray<ProfilePart>): string => {
  const row = (at: string, share: number) => `| ${at} | ${(share * 100).toFixed(1)} % |`
  const large = parts.filter(({ share }) => share >= smallShare)
  const rest = parts.filter(({ share }) => share < smallShare)
  const rows = [
    ...large.map(({ at, share }) => row(at, share)),
    row(`${rest.length} others`, rest.reduce((sum, { share }) => sum + share, 0))
  ]
  return [`| ${name} | of the processor's time |`, "| --- | ---: |", ...rows, ""].join("\n")
}

/** Profiles the rounds of one contender, and leaves the others alone. */
export class RoundProfiler {
  readonly profiles: Array<Profiler.Profile> = []
  private readonly session = new Session()
  readonly name: string

  constructor(name: string) {
    this.name = name
    this.session.connect()
  }

  /** Runs a round, and samples it where it is one of that contender. */
  async around<A>(name: string, round: () => A | Promise<A>): Promise<A> {
    if (name !== this.name) return await round()
    await this.session.post("Profiler.enable")
    await this.session.post("Profiler.setSamplingInterval", { interval: samplingMicros })
    await this.session.post("Profiler.start")
    try {
      return await round()
    } finally {
      const { profile } = await this.session.post("Profiler.stop")
      this.profiles.push(profile)
    }
  }
}
