/** How a store answers that stands for S3. */

/** Log-normal, with these two; and what one connection carries. */
export const likeS3 = {
  latency: { kind: "tail", medianMillis: 40, p99Millis: 250 },
  megabytesPerSecond: 90
} as const
