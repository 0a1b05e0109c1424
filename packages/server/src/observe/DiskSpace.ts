/**
 * How much room the disks have that local logs, directory stores and spools lie on.
 *
 * Asked every 15 seconds, not at a scrape: a disk that hangs must not hang `/metrics` too.
 */
import type { BackendSettings } from "@effect-wal/core/config/DecodeBackend"
import { Effect, Layer, Metric } from "effect"
import { statfs } from "node:fs/promises"
import { dirname, resolve } from "node:path"
import { meaningOf } from "./MetricTable.ts"

const everyMillis = 15_000

const free = Metric.gauge("wal_disk_free_bytes", { description: meaningOf("wal_disk_free_bytes") })
const size = Metric.gauge("wal_disk_size_bytes", { description: meaningOf("wal_disk_size_bytes") })

interface Place {
  readonly path: string
  readonly use: "log" | "store" | "spool"
}

const placesOf = (streams: ReadonlyArray<Pick<BackendSettings, "store" | "spool">>): ReadonlyArray<Place> => {
  const places = streams.flatMap(({ spool, store }): ReadonlyArray<Place> => [
    ...(store.type === "local" ? [{ path: store.path, use: "log" as const }] : []),
    ...(store.type === "directory" ? [{ path: store.path, use: "store" as const }] : []),
    ...(spool === undefined ? [] : [{ path: spool.path, use: "spool" as const }])
  ])
  return [...new Map(places.map((place) => [`${place.use} ${place.path}`, place])).values()]
}

/** The folder is made when its log is opened; until then the disk is that of the one above. */
const statDisk = (path: string): Effect.Effect<{ readonly free: number; readonly size: number } | undefined> =>
  Effect.tryPromise(() => statfs(path)).pipe(
    Effect.map(({ bavail, blocks, bsize }) => ({ free: bavail * bsize, size: blocks * bsize })),
    Effect.catch(() => {
      const above = dirname(path)
      return above === path ? Effect.succeed(undefined) : statDisk(above)
    })
  )

const look = Effect.fnUntraced(function*({ path, use }: Place) {
  const found = yield* statDisk(resolve(path))
  if (found === undefined) return
  yield* Metric.update(Metric.withAttributes(free, { path, use }), found.free)
  yield* Metric.update(Metric.withAttributes(size, { path, use }), found.size)
})

/** Looks at every disk that these streams use, now and every 15 seconds until the scope ends. */
export const layer = (streams: ReadonlyArray<Pick<BackendSettings, "store" | "spool">>): Layer.Layer<never> =>
  Layer.effectDiscard(
    Effect.forEach(placesOf(streams), look, { concurrency: "unbounded", discard: true }).pipe(
      Effect.andThen(Effect.sleep(everyMillis)),
      Effect.forever,
      Effect.forkScoped
    )
  )
