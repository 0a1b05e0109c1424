/** What `syncs` tells the program that it runs under strace, and what that one answers. */

/** The modes of a local log. */
export const syncModes = ["per_entry", "group_commit", "periodic"] as const

/** How often `periodic` seals, by time. */
export const periodicInterval = "20 millis"

export interface SyncLoad {
  readonly path: string
  readonly sync: typeof syncModes[number]
  readonly producers: number
  /** Of all producers together; 0: the log is only opened and closed. */
  readonly appends: number
  /** Records of one append. */
  readonly batch: number
  readonly recordBytes: number
}

export interface SyncReport {
  readonly durable: number
  readonly segments: number
  readonly seconds: number
}
