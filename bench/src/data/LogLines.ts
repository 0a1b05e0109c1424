/** Log lines of a small web shop, as its services write them: JSON, one record a line. The same seed gives the same lines. */
import { seededChance } from "../../../scripts/acceptance/Run.ts"

const services = ["gateway", "checkout", "catalog", "payments", "search"] as const
const methods = ["GET", "GET", "GET", "GET", "POST", "PUT", "DELETE"] as const
const routes = ["/v1/orders", "/v1/products", "/v1/carts", "/v1/customers", "/v1/search"] as const
const failures = [
  "upstream timed out after 2000 ms",
  "connection reset by peer",
  "could not acquire a connection from the pool",
  "card was declined by the issuer"
] as const
const startedAt = Date.UTC(2026, 2, 1, 8)

/** Writes one line after the other; time goes on by some milliseconds from line to line. */
class LogWriter {
  private readonly chance: () => number
  private millis = startedAt

  constructor(seed: number) {
    this.chance = seededChance(seed)
  }

  private below(limit: number): number {
    return Math.floor(this.chance() * limit)
  }

  private oneOf<A>(first: A, ...values: ReadonlyArray<A>): A {
    return values[this.below(values.length + 1) - 1] ?? first
  }

  private hex(digits: number): string {
    let text = ""
    while (text.length < digits) text += this.below(2 ** 32).toString(16).padStart(8, "0")
    return text
  }

  /** Few are slow: the square of the square of chance. */
  private duration(): number {
    return Number((0.4 + 900 * this.chance() ** 4).toFixed(3))
  }

  /** What a line says: mostly that a request is done, at times what it did or that something failed. */
  private event(): Record<string, unknown> {
    const kind = this.chance()
    if (kind < 0.75) {
      return {
        msg: "request completed",
        method: this.oneOf(...methods),
        path: `${this.oneOf(...routes)}/${100_000 + this.below(900_000)}`,
        status: this.oneOf(200, 200, 200, 200, 201, 204, 304, 404),
        duration_ms: this.duration(),
        bytes: this.below(20_000),
        user_id: 1_000 + this.below(50_000)
      }
    }
    if (kind < 0.95) {
      return {
        msg: "query executed",
        statement: `select * from ${this.oneOf("orders", "products", "carts")} where id = $1`,
        rows: this.below(40),
        duration_ms: this.duration()
      }
    }
    return {
      msg: this.oneOf(...failures),
      attempt: 1 + this.below(3),
      retry: this.chance() < 0.7,
      user_id: this.below(50_000)
    }
  }

  /** Without the line break, which a log does not keep. */
  line(): string {
    this.millis += this.below(8)
    const event = this.event()
    return JSON.stringify({
      ts: new Date(this.millis).toISOString(),
      level: "attempt" in event ? this.oneOf("warn", "error") : "info",
      service: this.oneOf(...services),
      host: `ip-10-0-${this.below(4)}-${10 + this.below(20)}`,
      trace_id: this.hex(32),
      span_id: this.hex(16),
      ...event
    })
  }
}

/** So many bytes of lines, up to one line more, each with its bytes. */
export const logLines = (bytes: number, seed: number): ReadonlyArray<Uint8Array> => {
  const writer = new LogWriter(seed)
  const encoder = new TextEncoder()
  const lines: Array<Uint8Array> = []
  for (let total = 0; total < bytes;) {
    const line = encoder.encode(writer.line())
    lines.push(line)
    total += line.length
  }
  return lines
}
