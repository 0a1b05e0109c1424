/**
 * For each alert of `deploy/prometheus/effect-wal.rules.yml`: series in which it fires, and series that look alike in which
 * it must not. Values are in promtool's notation, one a minute; settings are those of the preset `balanced`.
 */

/** Values by series. */
type Series = Readonly<Record<string, string>>

export interface AlertCase {
  readonly alert: string
  /** Minutes after the start when it is looked at. */
  readonly minute: number
  readonly fires: Series
  /** Other alerts that these series set off, rightly. */
  readonly also?: ReadonlyArray<string>
  readonly quiet: Series
  /** Alerts that these other series set off, rightly. */
  readonly quietBut?: ReadonlyArray<string>
}

const target = "job=\"effect-wal\",instance=\"10.0.0.1:8180\""
const log = `${target},stream="orders",node="wal-0"`

/** A series of the log. */
const of = (name: string, labels = ""): string => `${name}{${log}${labels === "" ? "" : `,${labels}`}}`

/** A series of the process. */
const ofProcess = (name: string, labels = ""): string => `${name}{${target}${labels === "" ? "" : `,${labels}`}}`

const state = (name: string): string => ofProcess("wal_stream_state", `stream="orders",state="${name}"`)

/** The settings, in every case. */
export const balanced: Series = {
  [of("wal_segment_limit_entries")]: "1000x180",
  [of("wal_segment_limit_bytes")]: "1048576x180",
  [of("wal_flush_interval_seconds")]: "1x180",
  [of("wal_linger_seconds")]: "0.1x180",
  [of("wal_put_window_segments")]: "1x180"
}

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

const uploads: ReadonlyArray<AlertCase> = [
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
    alert: "EffectWalStoreFailing",
    minute: 6,
    fires: { [of("wal_store_failing_seconds")]: "0+60x20" },
    quiet: { [of("wal_store_failing_seconds")]: "20x20" }
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
  }
]

const recovery = (name: string, labels = "") => of(`wal_recovery_latency_seconds_${name}`, labels)

const consumers: ReadonlyArray<AlertCase> = [
  {
    alert: "EffectWalCursorLag",
    minute: 15,
    fires: { [of("wal_cursor_lag_entries")]: "10001x30" },
    quiet: { [of("wal_cursor_lag_entries")]: "10000x30" }
  },
  {
    alert: "EffectWalRecoverySlow",
    minute: 8,
    fires: { [recovery("count")]: "_x5 1x30", [recovery("bucket", "le=\"5\"")]: "_x5 0x30" },
    quiet: { [recovery("count")]: "_x5 1x30", [recovery("bucket", "le=\"5\"")]: "_x5 1x30" }
  },
  {
    // As Prometheus 3 writes the bound; and it is over after an hour.
    alert: "EffectWalRecoverySlow",
    minute: 65,
    fires: { [recovery("count")]: "3x10 4x120", [recovery("bucket", "le=\"5.0\"")]: "3x10 3x120" },
    quiet: { [recovery("count")]: "4x120", [recovery("bucket", "le=\"5.0\"")]: "3x120" }
  },
  {
    alert: "EffectWalRecordsLost",
    minute: 8,
    fires: { [of("wal_records_lost_total")]: "0x5 10x20" },
    quiet: { [of("wal_records_lost_total")]: "10x30" }
  }
]

const started = ofProcess("process_start_time_seconds")
const build = ofProcess("wal_build_info", "version=\"0.1.0\"")
const answered = (status: string, route: string) =>
  ofProcess("wal_http_requests_total", `method="POST",route="${route}",status="${status}"`)
const records = "/v1/streams/{stream}/records"

const writers: ReadonlyArray<AlertCase> = [
  {
    alert: "EffectWalDown",
    minute: 4,
    fires: { [ofProcess("up")]: "0x10" },
    quiet: { [ofProcess("up")]: "1x10", "up{job=\"other\",instance=\"b\"}": "0x10" }
  },
  {
    alert: "EffectWalRestarting",
    minute: 10,
    fires: { [started]: "1 1 2 2 3 3 4 4 5 5 5 5", [build]: "1x12" },
    quiet: { [started]: "1 1 1 1 2 2 2 2 2 2 2 2", [build]: "1x12", "process_start_time_seconds{job=\"b\"}": "0+1x12" }
  },
  {
    alert: "EffectWalFenced",
    minute: 3,
    fires: { [state("fenced")]: "0 1x10", [state("open")]: "1 0x10" },
    quiet: { [state("fenced")]: "0x10", [state("open")]: "1x10" }
  },
  {
    alert: "EffectWalLogDead",
    minute: 3,
    fires: { [state("failed")]: "0 1x10" },
    quiet: { [state("failed")]: "0x10", [state("closed")]: "1x10" }
  },
  {
    alert: "EffectWalStreamRefused",
    minute: 4,
    fires: { [state("refused")]: "1x10" },
    quiet: { [state("refused")]: "0x10" }
  },
  {
    alert: "EffectWalStreamNotOpen",
    minute: 8,
    fires: { [state("opening")]: "1x10" },
    quiet: { [state("opening")]: "1x3 0x10" }
  },
  {
    alert: "EffectWalManifestConflicts",
    minute: 15,
    fires: { [of("wal_manifest_conflicts_total")]: "0+2x20" },
    quiet: { [of("wal_manifest_conflicts_total")]: "0x5 1x20" }
  },
  {
    alert: "EffectWalManifestContention",
    minute: 10,
    fires: { [of("wal_manifest_contentions_total")]: "0x5 1x20" },
    quiet: { [of("wal_manifest_contentions_total")]: "1x30" }
  },
  {
    alert: "EffectWalAbandonedLogs",
    minute: 15,
    fires: { [ofProcess("wal_abandoned_logs")]: "2x20" },
    quiet: { [ofProcess("wal_abandoned_logs")]: "0x20" }
  },
  {
    alert: "EffectWalErrors",
    minute: 15,
    fires: { [answered("503", records)]: "0+6x20", [answered("200", records)]: "0+54x20" },
    quiet: { [answered("503", "/readyz")]: "0+60x20", [answered("200", records)]: "0+54x20" }
  },
  {
    alert: "EffectWalTracesLost",
    minute: 8,
    fires: { [ofProcess("wal_trace_export_failures_total")]: "0x5 1x20" },
    quiet: { [ofProcess("wal_trace_export_failures_total")]: "0x30" }
  }
]

const disk = (name: string) => ofProcess(name, "path=\"/data\",use=\"log\"")

const disks: ReadonlyArray<AlertCase> = [
  {
    alert: "EffectWalSpoolInUse",
    minute: 5,
    fires: { [of("wal_spooled_entries")]: "5x20" },
    quiet: { [of("wal_spooled_entries")]: "5 0x20" }
  },
  {
    alert: "EffectWalSpoolFilling",
    minute: 5,
    fires: { [of("wal_spool_bytes")]: "90x20", [of("wal_spool_limit_bytes")]: "100x20" },
    quiet: { [of("wal_spool_bytes")]: "0x20", [of("wal_spool_limit_bytes")]: "0x20" }
  },
  {
    alert: "EffectWalDiskFilling",
    minute: 8,
    fires: { [disk("wal_disk_free_bytes")]: "5x20", [disk("wal_disk_size_bytes")]: "100x20" },
    quiet: { [disk("wal_disk_free_bytes")]: "20x20", [disk("wal_disk_size_bytes")]: "100x20" }
  },
  {
    alert: "EffectWalDiskFull",
    minute: 8,
    fires: { [disk("wal_disk_free_bytes")]: "2x20", [disk("wal_disk_size_bytes")]: "100x20" },
    also: ["EffectWalDiskFilling"],
    quiet: { [disk("wal_disk_free_bytes")]: "5x20", [disk("wal_disk_size_bytes")]: "100x20" },
    quietBut: ["EffectWalDiskFilling"]
  },
  {
    alert: "EffectWalStoreFull",
    minute: 5,
    fires: { [of("wal_put_retries_total", "class=\"StoreFull\"")]: "0x2 5x20" },
    quiet: { [of("wal_put_retries_total", "class=\"Throttled\"")]: "0x2 5x20" }
  },
  {
    alert: "EffectWalSyncFailed",
    minute: 8,
    fires: { [ofProcess("wal_disk_sync_failures_total")]: "_x5 1x20" },
    quiet: { [ofProcess("wal_torn_tails_total")]: "_x5 1x20" }
  },
  {
    alert: "EffectWalDeletesFail",
    minute: 25,
    fires: { [of("wal_delete_failures_total")]: "0x5 3x30" },
    quiet: { [of("wal_delete_failures_total")]: "3x40" }
  }
]

/** All cases. */
export const alertCases: ReadonlyArray<AlertCase> = [...uploads, ...consumers, ...writers, ...disks]
