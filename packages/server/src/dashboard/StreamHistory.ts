/** The last ten minutes of one stream, for its charts: the highest value of each five seconds. */
import type { History, Point } from "./Snapshot.ts"

/** How much time a point stands for. */
const pointMillis = 5_000

/** So many points are kept. */
const mostPoints = 120

export class StreamHistory {
  private readonly points: Array<{ readonly slot: number; readonly point: Point }> = []

  /** `at`: epoch milliseconds. */
  add(at: number, point: Point): void {
    const slot = Math.floor(at / pointMillis)
    const last = this.points.at(-1)
    if (last !== undefined && slot <= last.slot) {
      this.points[this.points.length - 1] = { slot: last.slot, point: higher(last.point, point) }
      return
    }
    this.points.push({ slot, point })
    if (this.points.length > mostPoints) this.points.shift()
  }

  /** In columns, the newest last. */
  get view(): History {
    const column = (name: keyof Point) => this.points.map(({ point }) => point[name])
    return {
      accepted: column("accepted"),
      at_risk: column("at_risk"),
      put_p99_ms: column("put_p99_ms"),
      lag: column("lag")
    }
  }
}

const higher = (left: Point, right: Point): Point => {
  const high = (name: keyof Point) => Math.max(left[name], right[name])
  return { accepted: high("accepted"), at_risk: high("at_risk"), put_p99_ms: high("put_p99_ms"), lag: high("lag") }
}
