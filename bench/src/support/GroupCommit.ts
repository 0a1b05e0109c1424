/** Calls that wait at the same time share one write: the loop of every group commit, with nothing around it. */

interface Call {
  readonly payloads: ReadonlyArray<Uint8Array>
  readonly done: () => void
  readonly failed: (cause: unknown) => void
}

export class GroupCommit {
  private readonly write: (payloads: ReadonlyArray<Uint8Array>) => Promise<unknown>
  private waiting: Array<Call> = []
  private isWriting = false

  /** `write` is done when the payloads are durable; it is called again only then. */
  constructor(write: (payloads: ReadonlyArray<Uint8Array>) => Promise<unknown>) {
    this.write = write
  }

  /** Done when the payloads are durable. */
  append(payloads: ReadonlyArray<Uint8Array>): Promise<void> {
    return new Promise((done, failed) => {
      this.waiting.push({ payloads, done, failed })
      if (!this.isWriting) void this.writeAll()
    })
  }

  private async writeAll(): Promise<void> {
    this.isWriting = true
    while (this.waiting.length > 0) {
      const calls = this.waiting
      this.waiting = []
      await this.write(calls.flatMap(({ payloads }) => payloads)).then(
        () => calls.forEach(({ done }) => done()),
        (cause: unknown) => calls.forEach(({ failed }) => failed(cause))
      )
    }
    this.isWriting = false
  }
}
