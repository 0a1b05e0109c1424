/** A strict parser of the Prometheus text format: it throws at what Prometheus would drop a scrape for. */

export interface Sample {
  readonly name: string
  readonly labels: Readonly<Record<string, string>>
  readonly value: number
}

export interface Family {
  readonly type: string
  readonly samples: Array<Sample>
}

const name = "[a-zA-Z_:][a-zA-Z0-9_:]*"
const value = "[+-]?(?:Inf|[0-9]+(?:\\.[0-9]+)?(?:e[+-]?[0-9]+)?)|NaN"
const sampleForm = new RegExp(`^(${name})(?:\\{(.*)\\})? (${value})$`)
const labelForm = /^([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\\\|\\"|\\n)*)"(,|$)/

const parseLabels = (text: string): Record<string, string> => {
  const labels: Record<string, string> = {}
  let rest = text
  while (rest !== "") {
    const match = labelForm.exec(rest)
    const label = match?.[1]
    if (match === null || label === undefined || label in labels) throw new Error(`bad labels: ${text}`)
    labels[label] = (match[2] ?? "").replace(/\\(.)/g, (_, escaped: string) => escaped === "n" ? "\n" : escaped)
    rest = rest.slice(match[0].length)
  }
  return labels
}

const suffixes: Readonly<Record<string, RegExp>> = { histogram: /_(bucket|sum|count)$/, summary: /_(sum|count)$/ }

/** Adds the family that a `# TYPE` line announces, and answers its name. */
const addFamily = (families: Map<string, Family>, line: string): string => {
  const [, , family = "", type = ""] = line.split(" ")
  if (families.has(family)) throw new Error(`a second TYPE for ${family}`)
  if (!["counter", "gauge", "histogram", "summary", "untyped"].includes(type)) throw new Error(`type ${type}`)
  if (type === "counter" && !family.endsWith("_total")) throw new Error(`counter ${family} without _total`)
  families.set(family, { type, samples: [] })
  return family
}

const addSample = (family: Family | undefined, familyName: string, line: string, series: Set<string>): void => {
  const [, sample = "", labels = "", number = ""] = sampleForm.exec(line) ?? []
  if (sample === "") throw new Error(`bad line: ${line}`)
  const suffix = suffixes[family?.type ?? ""]
  if (family === undefined || (suffix === undefined ? sample : sample.replace(suffix, "")) !== familyName) {
    throw new Error(`${sample} outside its family`)
  }
  const id = `${sample}{${labels}}`
  if (series.has(id)) throw new Error(`twice: ${line}`)
  series.add(id)
  family.samples.push({ name: sample, labels: parseLabels(labels), value: Number(number.replace("Inf", "Infinity")) })
}

/** The families by name. */
export const parseExposition = (text: string): ReadonlyMap<string, Family> => {
  const families = new Map<string, Family>()
  const series = new Set<string>()
  let current = ""
  if (text !== "" && !text.endsWith("\n")) throw new Error("no newline at the end")
  for (const line of text.split("\n").slice(0, -1)) {
    if (line.startsWith("# HELP ")) continue
    if (line.startsWith("# TYPE ")) current = addFamily(families, line)
    else addSample(families.get(current), current, line, series)
  }
  return families
}
