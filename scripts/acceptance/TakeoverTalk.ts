/** What the parent and a writer process of the `takeovers` run say to each other, one JSON message each. */

/** From the parent. */
export type WriterCommand =
  /** Open the log, taking it over, and append until fenced. */
  | { readonly _tag: "Open" }
  /** Close in order and end. */
  | { readonly _tag: "Stop" }

/** From a writer. Records have ordinals of the writer, from 0; see `recordOf`. */
export type WriterReport =
  /** Loaded, waiting for `Open`. */
  | { readonly _tag: "Loaded" }
  | { readonly _tag: "Opened"; readonly epoch: number; readonly durable: number; readonly millis: number }
  /** These are durable: `count` records from `ordinal` on have the numbers from `first` on. */
  | { readonly _tag: "Durable"; readonly first: number; readonly ordinal: number; readonly count: number }
  /** Over: with which error, what every later call answered, and how much was neither stored nor refused for sure. */
  | {
    readonly _tag: "Ended"
    readonly error: string
    readonly state: string
    readonly laterErrors: ReadonlyArray<string>
    readonly unknown: number
  }
  | { readonly _tag: "OpenFailed"; readonly error: string; readonly message: string }

/** How a writer is set up: one JSON argument. */
export interface WriterSetup {
  readonly name: string
  readonly prefix: string
  /** Appends at a time, and the records of each. */
  readonly appenders: number
  readonly batch: number
  readonly codec: "zstd" | "lz4" | "none"
}

/** The identity that all writers share. */
export const identity = { nodeId: "node-0", streamId: "main" } as const

const filler = "0123456789abcdefghijklmnopqrstuvwxyz".repeat(16)

/** The record of a writer with this ordinal: the parent makes it again and compares the bytes. */
export const recordOf = (writer: string, ordinal: number): string =>
  `{"writer":"${writer}","n":${ordinal},"text":"${filler.slice(0, 64 + (ordinal * 37) % 448)}"}`

/** Writer and ordinal of a record. */
export const originOf = (record: string): { readonly writer: string; readonly ordinal: number } | undefined => {
  const match = /^\{"writer":"([^"]+)","n":(\d+),/.exec(record)
  return match === null ? undefined : { writer: match[1] ?? "", ordinal: Number(match[2]) }
}
