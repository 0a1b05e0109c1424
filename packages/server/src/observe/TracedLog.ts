/** A log whose appends are remembered for the links of their PUT, and whose waits for durability are spans. */
import type { Appended, WalService } from "@effect-wal/core/WalService"
import { Effect } from "effect"
import type { Carried, TraceLinks } from "./TraceLinks.ts"

/** Tells the span of the wait where the records went. */
const tellPut = (carried: Carried) =>
  Effect.match(Effect.currentSpan, {
    onFailure: () => undefined,
    onSuccess: (span) => {
      if (carried.put === undefined) return
      span.attribute("wal.segment", carried.put.key)
      span.addLinks([{ span: carried.put.span, attributes: { "wal.link": "segment" } }])
    }
  })

const waiting = (durable: Appended["durable"], appended: Appended, carried: Carried): Appended["durable"] =>
  Effect.withSpan(Effect.tap(durable, () => tellPut(carried)), "wal.durable", {
    attributes: { "wal.first_seq": appended.first, "wal.last_seq": appended.last, "wal.epoch": appended.epoch },
    captureStackTrace: false
  })

/** The log, for a server that traces. */
export const tracedLog = (log: WalService, links: TraceLinks): Effect.Effect<WalService> =>
  Effect.map(log.status, ({ logId }) => {
    const traced = (appended: Appended): Effect.Effect<Appended> =>
      Effect.match(Effect.currentParentSpan, {
        onFailure: () => appended,
        onSuccess: (span) => {
          if (!span.sampled || appended.last < appended.first || appended.isRepeat === true) return appended
          const carried = links.accepted(logId, appended, span)
          return {
            ...appended,
            durable: waiting(appended.durable, appended, carried),
            spooled: waiting(appended.spooled, appended, carried)
          }
        }
      })
    return {
      ...log,
      append: (records, options) => Effect.flatMap(log.append(records, options), traced),
      appendNow: (records, options) => Effect.flatMap(log.appendNow(records, options), traced)
    }
  })
