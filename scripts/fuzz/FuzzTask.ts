/** What the parent and the child of a run tell each other. */
import { closeSync, openSync, readSync, writeSync } from "node:fs"
import type { FuzzReport } from "../../packages/testing/src/fuzz/FuzzRun.ts"

/** What the child of a run is told. */
export interface FuzzTask {
  readonly target: string
  readonly seed: number
  /** The number of the first input. */
  readonly from: number
  readonly inputs: number
  readonly maxFailures: number
  /** A file of the run, see `Beat`. */
  readonly beatPath: string
}

/** What the child comes to. */
export interface FuzzResult {
  readonly report: FuzzReport
  /** The most memory that the child had, in MiB, everything counted. */
  readonly peakResidentMiB: number
}

/** Whether it is a task: what comes from another process has no type. */
export const isTask = (value: unknown): value is FuzzTask =>
  typeof value === "object" && value !== null && "beatPath" in value

/** Whether it is a result. */
export const isResult = (value: unknown): value is FuzzResult =>
  typeof value === "object" && value !== null && "peakResidentMiB" in value

const beatBytes = 16

/**
 * Where a run is: the input, and how often a decoder was called. In a file, so that it is known of a child that was
 * killed, or killed itself, in the middle of an input.
 */
export class Beat {
  private readonly file: number
  private readonly values = new Float64Array(2)
  private readonly bytes = new Uint8Array(this.values.buffer)

  constructor(path: string, mode: "r" | "w") {
    this.file = openSync(path, mode)
  }

  write(input: number, calls: number): void {
    this.values.set([input, calls])
    writeSync(this.file, this.bytes, 0, beatBytes, 0)
  }

  read(): { readonly input: number; readonly calls: number } {
    readSync(this.file, this.bytes, 0, beatBytes, 0)
    const [input = 0, calls = 0] = this.values
    return { input, calls }
  }

  close(): void {
    closeSync(this.file)
  }
}
