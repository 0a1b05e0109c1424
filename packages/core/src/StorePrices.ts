/**
 * What an object store charges, as a value with its source and date: prices change, formulas do not.
 */

export interface StorePrices {
  /** What is priced, for people. */
  readonly name: string
  /** Where to look up what holds today. */
  readonly url: string
  /** When the prices were taken down, year and month. */
  readonly asOf: string
  /** Dollars for 1,000 PUT, COPY or POST requests; deletions are free. */
  readonly per1000Puts: number
  readonly per1000Gets: number
  readonly per1000Lists: number
  readonly perGigabyteMonth: number
  /** What a gigabyte is here, in bytes. */
  readonly gigabyteBytes: number
}

/** A month as the source documents count: 30 days. */
export const hoursPerMonth = 720

/**
 * S3 Standard in us-east-1, without free tier, transfer or tax: the prices of the source document of July 2026, to be
 * compared with the public page. A gigabyte is 10^9 bytes as there; AWS meters in 2^30 (https://aws.amazon.com/s3/faqs/),
 * so storage is overstated by 7 %, and by a little more above 50 TB, where a lower price starts.
 */
export const s3StandardUsEast1: StorePrices = {
  name: "S3 Standard, us-east-1",
  url: "https://aws.amazon.com/s3/pricing/",
  asOf: "2026-07",
  per1000Puts: 0.005,
  per1000Gets: 0.0004,
  per1000Lists: 0.005,
  perGigabyteMonth: 0.023,
  gigabyteBytes: 1e9
}

/** How many PUTs a second, all month long, cost so many dollars. */
export const putsPerSecondFor = (dollarsPerMonth: number, prices: StorePrices = s3StandardUsEast1): number =>
  dollarsPerMonth * 1_000 / (prices.per1000Puts * hoursPerMonth * 3_600)
