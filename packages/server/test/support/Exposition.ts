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

/** The families by name. */
export const parseExposition = (text: string): ReadonlyMap<string, Family> => {
  const families = new Map<string, Family>()
  const series = new Set<string>()
  let current = ""
  if (text !== "" && !text.endsWith("\n")) throw new Error("no newline at the end")
  for (const line of text.split("\n").slice(0, -1)) {
    if (line.startsWith("# HELP ")) continue
    if (line.startsWith("# TYPE ")) {
      const [, , family = "", type = ""] = line.split(" ")
      if (families.has(family)) throw new Error(`a second TYPE for ${family}`)
      if (!["counter", "gauge", "histogram", "summary", "untyped"].includes(type)) throw new Error(`type ${type}`)
      if (type === "counter" && !family.endsWith("_total")) throw new Error(`counter ${family} without _total`)
      families.set(family, { type, samples: [] })
      current = family
      continue
    }
    const match = sampleForm.exec(line)
    if (match === null) throw new Error(`bad line: ${line}`)
    const family = families.get(current)
    const sample = match[1] ?? ""
    const suffix = suffixes[family?.type ?? ""]
    if (family === undefined || (suffix === undefined ? sample : sample.replace(suffix, "")) !== current) {
      throw new Error(`${sample} outside its family`)
    }
    if (series.has(`${sample}{${match[2] ?? ""}}`)) throw new Error(`twice: ${line}`)
    series.add(`${sample}{${match[2] ?? ""}}`)
    family.samples.push({
      name: sample,
      labels: parseLabels(match[2] ?? ""),
      value: Number(match[3]?.replace("Inf", "Infinity"))
    })
  }
  return families
}
