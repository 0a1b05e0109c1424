/** How long a store takes to answer. */

/** `fixed`: each answer after so many milliseconds; `tail`: log-normal, with this median and 99th percentile. */
export type Latency =
  | { readonly kind: "none" }
  | { readonly kind: "fixed"; readonly millis: number }
  | { readonly kind: "tail"; readonly medianMillis: number; readonly p99Millis: number }

/** The 99th percentile of the standard normal distribution. */
const z99 = 2.3263

/** Two uniform numbers from 0 (exclusive) to 1 make a normal one: Box and Muller, Ann. Math. Statist. 29(2), 1958. */
const normal = (left: number, right: number): number => Math.sqrt(-2 * Math.log(left)) * Math.cos(2 * Math.PI * right)

/** One sample, milliseconds. */
export const sampleLatency = (latency: Latency, random: () => number): number => {
  switch (latency.kind) {
    case "none":
      return 0
    case "fixed":
      return latency.millis
    case "tail": {
      const sigma = Math.log(latency.p99Millis / latency.medianMillis) / z99
      return latency.medianMillis * Math.exp(sigma * normal(1 - random(), random()))
    }
  }
}
