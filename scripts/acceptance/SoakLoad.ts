/**
 * The load of the soak: appends of each level, and calls with an `Idempotency-Key` that are repeated until they are
 * answered, by whichever server has the log then, and once more when they have been.
 */
import { nowMillis, pause } from "./Run.ts"
import type { ServerProcess } from "./ServerProcess.ts"
import { countOne, soakLine, type SoakLog } from "./SoakLog.ts"
import { type Level, noteAnswer, send } from "./SpoolLoad.ts"

export interface LoadShape {
  readonly chance: () => number
  /** Levels that the log has, the likelier ones more than once. */
  readonly levels: ReadonlyArray<Level>
  /** Most records in one append. */
  readonly batch: number
  readonly pauseMillis: number
  /** Share of the appends that have a key. */
  readonly keyed: number
}

/** A call with a key that was answered as durable. */
interface Call {
  readonly key: string
  readonly ordinals: ReadonlyArray<number>
  readonly firstSeq: number
  readonly answeredAt: number
}

/** What became of the calls with a key. */
export interface KeyedCounts {
  calls: number
  /** Sent again, before or after the first answer. */
  repeats: number
  /** Answered as a repeat: nothing was appended. */
  replayed: number
}

/** Calls that are repeated after their answer: the newest, and none so old that `producers.ttl` may have passed. */
const remembered = { calls: 20, millis: 60_000 }

/** Longest pause of a poster that was refused. */
const refusedPauseMillis = 250

const numbersOf = (
  text: string
): { readonly first_seq?: number; readonly last_seq?: number; readonly epoch?: number } => JSON.parse(text)

const plain = async (log: SoakLog, shape: LoadShape, server: ServerProcess): Promise<void> => {
  const { batch, chance, levels, pauseMillis } = shape
  const ordinals = log.ledger.take(1 + Math.floor(chance() * batch))
  const level = levels[Math.floor(chance() * levels.length)] ?? "durable"
  const reply = await send(server, ordinals.map(soakLine), level)
  countOne(log.answers, reply?.status ?? 0)
  if (reply !== undefined) noteAnswer(log, ordinals, reply)
  await pause(reply?.status === 200 ? pauseMillis : refusedPauseMillis)
}

/** A keyed call is repeated until it is answered; the log holds it once, whoever answers. */
class KeyedCalls {
  readonly counts: KeyedCounts
  private readonly log: SoakLog
  private readonly shape: LoadShape
  private readonly remembered: Array<Call> = []
  private readonly name: string

  constructor(log: SoakLog, shape: LoadShape, counts: KeyedCounts, name: string) {
    this.log = log
    this.shape = shape
    this.counts = counts
    this.name = name
  }

  /** A new call, or one that was answered before. */
  async one(): Promise<void> {
    const { batch, chance } = this.shape
    const old = this.remembered[Math.floor(chance() * this.remembered.length)]
    if (old !== undefined && chance() < 0.3 && nowMillis() - old.answeredAt < remembered.millis) {
      const firstSeq = await this.untilAnswered(old.key, old.ordinals, true)
      this.log.promise(
        firstSeq === old.firstSeq,
        `the call ${old.key} was answered ${old.firstSeq} at first and ${firstSeq} afterwards`
      )
      return
    }
    const ordinals = this.log.ledger.take(1 + Math.floor(chance() * batch))
    const key = `${this.name}-${this.counts.calls++}`
    const firstSeq = await this.untilAnswered(key, ordinals, false)
    this.remembered.push({ key, ordinals, firstSeq, answeredAt: nowMillis() })
    if (this.remembered.length > remembered.calls) this.remembered.shift()
  }

  private async untilAnswered(key: string, ordinals: ReadonlyArray<number>, isKnown: boolean): Promise<number> {
    const { log } = this
    for (let tries = isKnown ? 1 : 0;; tries++) {
      const server = log.current
      if (server === undefined || !server.running) {
        await pause(50)
        continue
      }
      if (tries > 0) this.counts.repeats++
      const reply = await this.send(server, key, ordinals)
      if (reply !== undefined) {
        if (!isKnown) log.note(ordinals, { level: "durable", epoch: reply.epoch, firstSeq: reply.firstSeq })
        return reply.firstSeq
      }
      await pause(refusedPauseMillis)
    }
  }

  private async send(server: ServerProcess, key: string, ordinals: ReadonlyArray<number>) {
    const { counts, log } = this
    const answer = await server.call("/records", {
      method: "POST",
      headers: { "content-type": "application/x-ndjson", "idempotency-key": key },
      body: ordinals.map((ordinal) => `${soakLine(ordinal)}\n`).join("")
    }).catch(() => undefined)
    const text = await answer?.text().catch(() => undefined)
    countOne(log.answers, text === undefined ? 0 : answer?.status ?? 0)
    if (answer === undefined || text === undefined) return undefined
    log.promise(!text.includes("producer_conflict"), `the call ${key} was taken for another one: ${text}`)
    if (answer.status !== 200) return undefined
    if (answer.headers.has("idempotency-replayed")) counts.replayed++
    const { epoch, first_seq: firstSeq, last_seq: lastSeq } = numbersOf(text)
    const count = Number(lastSeq) - Number(firstSeq) + 1
    log.promise(count === ordinals.length, `the call ${key} of ${ordinals.length} records got ${count} numbers`)
    return { firstSeq: Number(firstSeq), epoch: Number(epoch) }
  }
}

/** Appends to whoever has the log until the load is over. */
export const postSoak = async (log: SoakLog, shape: LoadShape, counts: KeyedCounts, name: string): Promise<void> => {
  const keyed = new KeyedCalls(log, shape, counts, name)
  await log.whileHeld(() => log.loading, async (server) => {
    if (shape.chance() >= shape.keyed) return await plain(log, shape, server)
    await keyed.one()
    await pause(shape.pauseMillis)
  })
}

/** Asks for a flush now and then. Its answer proves nothing; that the log goes on does. */
export const flushNowAndThen = (log: SoakLog, chance: () => number): Promise<void> =>
  log.whileHeld(() => log.loading, async (server) => {
    await pause(500 + 3_000 * chance())
    await server.call("/flush", { method: "POST" }).then((answer) => answer.text()).catch(() => undefined)
  })
