/** The cases of the alerts about uploads and the buffer before them. */
import { type AlertCase, answered, fenced, of, perEntry, records, type Series } from "./AlertSeries.ts"

/** A PUT a second, all in one bucket. */
const puts = (upTo: number): Series => ({
  ...Object.fromEntries([0.1, 0.2, 0.5, 1].map((bound) => [
    of("wal_segment_put_latency_seconds_bucket", `le="${bound}"`),
    bound < upTo ? "0x60" : "0+60x60"
  ])),
  [of("wal_segment_put_latency_seconds_bucket", "le=\"+Inf\"")]: "0+60x60",
  [of("wal_segment_puts_total")]: "0+60x60"
})

/** What is uploaded, a second. */
const load = (given: { readonly puts: number; readonly records: number; readonly bytes: number }): Series => ({
  [of("wal_segment_puts_total")]: `0+${given.puts * 60}x60`,
  [of("wal_records_durable_total")]: `0+${given.records * 60}x60`,
  [of("wal_segment_raw_bytes_total")]: `0+${given.bytes * 60}x60`
})

/** Of the group of uploads. */
export const uploads: ReadonlyArray<AlertCase> = [
  { alert: "EffectWalPutSlow", minute: 20, fires: puts(0.5), quiet: puts(0.1) },
  {
    alert: "EffectWalPutVerySlow",
    minute: 20,
    fires: puts(1),
    also: ["EffectWalPutSlow"],
    quiet: puts(0.5),
    quietBut: ["EffectWalPutSlow"]
  },
  {
    alert: "EffectWalPutsFrequent",
    minute: 25,
    fires: load({ puts: 30, records: 30, bytes: 3_000 }),
    also: ["EffectWalSegmentsSmall"],
    quiet: load({ puts: 30, records: 30_000, bytes: 30_000_000 })
  },
  {
    alert: "EffectWalSegmentsSmall",
    minute: 25,
    fires: load({ puts: 10, records: 50, bytes: 5_000 }),
    quiet: load({ puts: 4, records: 20, bytes: 2_000 })
  },
  {
    alert: "EffectWalSegmentsLarge",
    minute: 25,
    fires: load({ puts: 1, records: 1, bytes: 2_097_152 }),
    quiet: load({ puts: 1, records: 900, bytes: 1_048_576 })
  },
  {
    alert: "EffectWalUploadsStuck",
    minute: 6,
    fires: { [of("wal_oldest_at_risk_age_seconds")]: "0+60x20", [of("wal_segment_puts_total")]: "100x20" },
    quiet: { [of("wal_oldest_at_risk_age_seconds")]: "60x20", [of("wal_segment_puts_total")]: "100+10x20" }
  },
  {
    alert: "EffectWalUploadsStuck",
    minute: 6,
    fires: { [of("wal_oldest_at_risk_age_seconds")]: "32x20", [of("wal_segment_puts_total")]: "0x20" },
    // An idle log confirms nothing either.
    quiet: { [of("wal_oldest_at_risk_age_seconds")]: "0x20", [of("wal_segment_puts_total")]: "100x20" }
  },
  {
    // What a fenced log still holds is never sent again: a restart is what its own alert asks for.
    alert: "EffectWalUploadsStuck",
    minute: 6,
    fires: { [of("wal_oldest_at_risk_age_seconds")]: "0+60x20", [of("wal_segment_puts_total")]: "100x20" },
    quiet: { [of("wal_oldest_at_risk_age_seconds")]: "0+60x20", [of("wal_segment_puts_total")]: "100x20", ...fenced }
  },
  {
    alert: "EffectWalStoreFailing",
    minute: 6,
    fires: { [of("wal_store_failing_seconds")]: "0+60x20" },
    quiet: { [of("wal_store_failing_seconds")]: "20x20" }
  },
  {
    alert: "EffectWalStoreFailing",
    minute: 6,
    fires: { [of("wal_store_failing_seconds")]: "0+60x20" },
    quiet: { [of("wal_store_failing_seconds")]: "0+60x20", ...fenced }
  },
  {
    alert: "EffectWalRetries",
    minute: 20,
    fires: {
      [of("wal_put_retries_total", "class=\"Throttled\"")]: "0+10x30",
      [of("wal_segment_puts_total")]: "0+60x30"
    },
    quiet: {
      [of("wal_put_retries_total", "class=\"Throttled\"")]: "0+1x30",
      [of("wal_segment_puts_total")]: "0+60x30"
    }
  },
  {
    alert: "EffectWalAtRiskWindow",
    minute: 8,
    fires: { [of("wal_at_risk_entries")]: "2001x20" },
    quiet: { [of("wal_at_risk_entries")]: "2000x20" }
  },
  {
    alert: "EffectWalAtRiskWindow",
    minute: 8,
    fires: { [of("wal_at_risk_entries")]: "201x20", ...perEntry },
    // As many callers wait for their one record each.
    quiet: { [of("wal_at_risk_entries")]: "64x20", ...perEntry }
  },
  {
    alert: "EffectWalAtRiskWindow",
    minute: 8,
    fires: { [of("wal_at_risk_entries")]: "2001x20" },
    quiet: { [of("wal_at_risk_entries")]: "2001x20", ...fenced }
  },
  {
    alert: "EffectWalBufferFilling",
    minute: 8,
    fires: { [of("wal_buffered_bytes")]: "60x20", [of("wal_buffer_limit_bytes")]: "100x20" },
    quiet: { [of("wal_buffered_bytes")]: "40x20", [of("wal_buffer_limit_bytes")]: "100x20" }
  },
  {
    alert: "EffectWalBufferFull",
    minute: 8,
    fires: { [of("wal_buffered_bytes")]: "95x20", [of("wal_buffer_limit_bytes")]: "100x20" },
    also: ["EffectWalBufferFilling"],
    quiet: { [of("wal_buffered_bytes")]: "80x20", [of("wal_buffer_limit_bytes")]: "100x20" },
    quietBut: ["EffectWalBufferFilling"]
  },
  {
    // Small segments fill the queue long before the bytes: then appends are refused all the same.
    alert: "EffectWalBufferFull",
    minute: 15,
    fires: {
      [of("wal_queue_segments")]: "16x20",
      [answered("503", records)]: "0+2x20",
      [answered("200", records)]: "0+98x20"
    },
    // Callers who wait for room, and get it.
    quiet: { [of("wal_queue_segments")]: "16x20", [answered("200", records)]: "0+98x20" }
  },
  {
    alert: "EffectWalBufferFull",
    minute: 8,
    fires: { [of("wal_buffered_bytes")]: "95x20", [of("wal_buffer_limit_bytes")]: "100x20" },
    also: ["EffectWalBufferFilling"],
    quiet: { [of("wal_buffered_bytes")]: "95x20", [of("wal_buffer_limit_bytes")]: "100x20", ...fenced }
  }
]
