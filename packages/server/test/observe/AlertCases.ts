/**
 * For each alert of `deploy/prometheus/effect-wal.rules.yml`: series in which it fires, and series that look alike in which
 * it must not. Values are in promtool's notation, one a minute; settings are those of the preset `balanced`.
 */
import {
  type AlertCase,
  answered,
  of,
  ofProcess,
  perEntry,
  records,
  restarted,
  started,
  startedOnce,
  state
} from "./AlertSeries.ts"
import { uploads } from "./UploadAlertCases.ts"

const recovery = (name: string, labels = "") => of(`wal_recovery_latency_seconds_${name}`, labels)

const consumers: ReadonlyArray<AlertCase> = [
  {
    alert: "EffectWalCursorLag",
    minute: 15,
    fires: { [of("wal_cursor_lag_entries")]: "10001x30" },
    quiet: { [of("wal_cursor_lag_entries")]: "10000x30" }
  },
  {
    alert: "EffectWalCursorLag",
    minute: 15,
    fires: { [of("wal_cursor_lag_entries")]: "1001x30", ...perEntry },
    quiet: { [of("wal_cursor_lag_entries")]: "1000x30", ...perEntry }
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
    // Slow again after a restart: the series of the process before is no measure.
    alert: "EffectWalRecoverySlow",
    minute: 70,
    fires: { [recovery("count")]: "1x55 _x6 1x60", [recovery("bucket", "le=\"5\"")]: "0x55 _x6 0x60", ...restarted },
    quiet: { [recovery("count")]: "1x120", [recovery("bucket", "le=\"5\"")]: "0x120", ...startedOnce }
  },
  {
    alert: "EffectWalRecordsLost",
    minute: 8,
    fires: { [of("wal_records_lost_total")]: "0x5 10x20" },
    quiet: { [of("wal_records_lost_total")]: "10x30" }
  }
]

const build = ofProcess("wal_build_info", "version=\"0.1.0\"")

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
    // It is down when it is looked at: that is no end of the alert.
    alert: "EffectWalRestarting",
    minute: 10,
    fires: { [started]: "1 1 2 2 3 3 4 4 5 stale", [build]: "1x8 stale" },
    quiet: { [started]: "1 1 1 1 2 2 2 2 2 stale", [build]: "1x8 stale" }
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
    fires: { [ofProcess("wal_abandoned_records", "stream=\"orders\",node=\"wal-7\"")]: "2x20" },
    // That node runs: its consumers are not done yet, and no more.
    quiet: { [ofProcess("wal_abandoned_records", "stream=\"orders\",node=\"wal-0\"")]: "2x20" }
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
    alert: "EffectWalSyncFailed",
    minute: 70,
    fires: { [ofProcess("wal_disk_sync_failures_total")]: "3x55 _x6 1x60", ...restarted },
    quiet: { [ofProcess("wal_disk_sync_failures_total")]: "3x120", ...startedOnce }
  },
  {
    alert: "EffectWalSyncFailed",
    minute: 100,
    fires: { [ofProcess("wal_disk_sync_failures_total")]: "3x80 4x60", ...startedOnce },
    quiet: { [ofProcess("wal_disk_sync_failures_total")]: "3x120", ...startedOnce }
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
