/** The numbers in an answer of `/metrics`: as much of the text format as this program's own server writes. */

/** One number of one series. */
export interface MetricSample {
  readonly name: string
  readonly labels: ReadonlyMap<string, string>
  readonly value: number
}

const sampleForm = /^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? (\S+)$/
const labelForm = /([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\]|\\.)*)"/g

const unescape = (text: string): string =>
  text.replace(/\\(.)/g, (_, escaped: string) => escaped === "n" ? "\n" : escaped)

/** All samples; lines that are none are left out. */
export const parseMetrics = (text: string): ReadonlyArray<MetricSample> =>
  text.split("\n").flatMap((line) => {
    const match = sampleForm.exec(line)
    const value = Number(match?.[3]?.replace("Inf", "Infinity"))
    if (match?.[1] === undefined || Number.isNaN(value)) return []
    const labels = [...(match[2] ?? "").matchAll(labelForm)]
    return [{
      name: match[1],
      labels: new Map(labels.map((label) => [label[1] ?? "", unescape(label[2] ?? "")])),
      value
    }]
  })

/** The sum of all series of a name that carry these labels; `undefined` where there is none. */
export const sumOf = (
  samples: ReadonlyArray<MetricSample>,
  name: string,
  labels: Readonly<Record<string, string>>
): number | undefined => {
  const found = samples.filter((sample) =>
    sample.name === name && Object.entries(labels).every(([label, value]) => sample.labels.get(label) === value)
  )
  return found.length === 0 ? undefined : found.reduce((sum, { value }) => sum + value, 0)
}

/** The values of a label, sorted. */
export const valuesOf = (samples: ReadonlyArray<MetricSample>, label: string): ReadonlyArray<string> =>
  [...new Set(samples.flatMap((sample) => sample.labels.get(label) ?? []))].toSorted()
