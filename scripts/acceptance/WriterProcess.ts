/** A writer process as the parent of the `takeovers` run sees it: commands in, reports out, each report awaited by name. */
import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { openSync } from "node:fs"
import { join } from "node:path"
import { pause, type Run } from "./Run.ts"
import type { WriterCommand, WriterReport, WriterSetup } from "./TakeoverTalk.ts"

type Named<Tag extends WriterReport["_tag"]> = Extract<WriterReport, { readonly _tag: Tag }>

interface Waiter {
  readonly accepts: (report: WriterReport) => boolean
  readonly done: (report: WriterReport) => void
}

const isNamed = <Tag extends WriterReport["_tag"]>(report: WriterReport, tag: Tag): report is Named<Tag> =>
  report._tag === tag

export class WriterProcess {
  readonly name: string
  private readonly child: ChildProcess
  private readonly exited: Promise<unknown>
  private readonly waiters = new Set<Waiter>()
  /** Reports that nobody has awaited yet. */
  private readonly unread: Array<WriterReport> = []

  constructor(
    run: Run,
    setup: WriterSetup,
    options: {
      readonly env: Readonly<Record<string, string>>
      readonly logPath: string
      readonly onDurable: (report: Named<"Durable">) => void
    }
  ) {
    this.name = setup.name
    const log = openSync(options.logPath, "a")
    this.child = spawn(process.execPath, [join(import.meta.dirname, "takeover-writer.ts"), JSON.stringify(setup)], {
      env: { ...process.env, ...options.env },
      stdio: ["ignore", log, log, "ipc"]
    })
    this.exited = once(this.child, "exit")
    run.atEnd(() => {
      this.child.kill("SIGKILL")
    })
    this.child.on("message", (report: WriterReport) => {
      if (report._tag === "Durable") return options.onDurable(report)
      const waiter = [...this.waiters].find(({ accepts }) => accepts(report))
      if (waiter === undefined) this.unread.push(report)
      else {
        this.waiters.delete(waiter)
        waiter.done(report)
      }
    })
  }

  tell(command: WriterCommand): void {
    this.child.send(command)
  }

  /** The next report of this name; fails when the writer ends, cannot open, or takes too long. */
  async next<Tag extends WriterReport["_tag"]>(tag: Tag, withinMillis = 90_000): Promise<Named<Tag>> {
    const accepts = (report: WriterReport) => report._tag === tag || report._tag === "OpenFailed"
    const at = this.unread.findIndex(accepts)
    const [kept] = at === -1 ? [] : this.unread.splice(at, 1)
    const report = kept ?? await Promise.race([
      new Promise<WriterReport>((done) => this.waiters.add({ accepts, done })),
      this.exited.then(() => Promise.reject(new Error(`writer ${this.name} ended before ${tag}`))),
      pause(withinMillis).then(() => Promise.reject(new Error(`writer ${this.name}: no ${tag} in ${withinMillis} ms`)))
    ])
    if (isNamed(report, tag)) return report
    throw new Error(`writer ${this.name}: ${JSON.stringify(report)}`)
  }

  /** Tells it to close what it has open, and waits for its end. */
  async stop(): Promise<number | null> {
    this.tell({ _tag: "Stop" })
    await Promise.race([this.exited, pause(40_000)])
    return this.child.exitCode
  }

  /** SIGKILL, and waits. */
  async kill(): Promise<void> {
    this.child.kill("SIGKILL")
    await this.exited
  }
}
