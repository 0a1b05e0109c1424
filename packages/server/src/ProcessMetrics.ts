/**
 * The process itself on `/metrics`: memory, file descriptors, handles of Node, CPU time, and fibers.
 *
 * All but the fibers is asked of Node and of the system when somebody looks. Fibers are counted as they start and end,
 * by two additions each. Names are those that Prometheus clients of other languages use, where there is one.
 */
import { Context, Effect, Layer, Metric } from "effect"
import { readdirSync } from "node:fs"

interface Series {
  readonly name: string
  readonly description: string
  readonly read: () => number
}

/** Open files and sockets of a process of this system; there is none but on Linux. */
const descriptorFolder = "/proc/self/fd"

/** One less than is listed: the listing itself has one open. */
const openDescriptors = (): number => readdirSync(descriptorFolder).length - 1

const gauges: ReadonlyArray<Series> = [
  {
    name: "process_resident_memory_bytes",
    description: "Memory of the process that is in RAM",
    read: () => process.memoryUsage.rss()
  },
  {
    name: "nodejs_heap_size_used_bytes",
    description: "JavaScript heap in use, with what has not been collected yet",
    read: () => process.memoryUsage().heapUsed
  },
  {
    name: "nodejs_heap_size_total_bytes",
    description: "JavaScript heap that is reserved",
    read: () => process.memoryUsage().heapTotal
  },
  {
    name: "nodejs_external_memory_bytes",
    description: "Memory outside of the JavaScript heap that belongs to its objects: buffers above all",
    read: () => process.memoryUsage().external
  },
  {
    name: "nodejs_active_resources",
    description: "Sockets, timers, servers and requests to the system that keep the process alive",
    read: () => process.getActiveResourcesInfo().length
  }
]

const startedAt: Series = {
  name: "process_start_time_seconds",
  description: "When the process was started",
  read: () => performance.timeOrigin / 1_000
}

const openFiles: Series = {
  name: "process_open_fds",
  description: "Open files and sockets",
  read: openDescriptors
}

const isReadable = (folder: string): boolean => {
  try {
    return readdirSync(folder).length > 0
  } catch {
    return false
  }
}

const cpuSeconds: Series = {
  name: "process_cpu_seconds_total",
  description: "CPU time that the process has used",
  read: () => {
    const { system, user } = process.cpuUsage()
    return (system + user) / 1_000_000
  }
}

/** Counts fibers of all effects that run with it. */
interface FiberCount extends Metric.FiberRuntimeMetricsService {
  readonly started: () => number
  readonly active: () => number
}

const makeFiberCount = (): FiberCount => {
  let started = 0
  let ended = 0
  return {
    recordFiberStart: () => {
      started++
    },
    recordFiberEnd: () => {
      ended++
    },
    started: () => started,
    active: () => started - ended
  }
}

const noUpdate = () => undefined

/** No number where the system gives none, as when no descriptor is left to ask it by: the other series are still told. */
const valueOf = (read: () => number): number => {
  try {
    return read()
  } catch {
    return Number.NaN
  }
}

/**
 * Registers the series until the scope ends, and counts the fibers of everything that is built upon this layer.
 * `process_open_fds` is there on Linux only.
 */
export const layer: Layer.Layer<never> = Layer.effectContext(Effect.gen(function*() {
  const registry = yield* Metric.MetricRegistry
  const context = Context.make(Metric.MetricRegistry, registry)
  const fibers = makeFiberCount()
  const gauge = ({ description, name, read }: Series) =>
    Metric.registerUnsafe(Metric.gauge(name, { description }), context, {
      get: () => ({ value: valueOf(read) }),
      update: noUpdate,
      modify: noUpdate
    })
  const counter = ({ description, name, read }: Series) =>
    Metric.registerUnsafe(Metric.counter(name, { description, incremental: true }), context, {
      get: () => ({ count: valueOf(read), incremental: true }),
      update: noUpdate,
      modify: noUpdate
    })
  const registrations = [
    ...[...gauges, startedAt].map(gauge),
    ...isReadable(descriptorFolder) ? [gauge(openFiles)] : [],
    counter(cpuSeconds),
    gauge({ name: "effect_fibers_active", description: "Fibers that have not ended", read: fibers.active }),
    counter({ name: "effect_fibers_started_total", description: "Fibers that were started", read: fibers.started })
  ]
  yield* Effect.addFinalizer(() =>
    Effect.sync(() => {
      for (const registration of registrations) registration.remove()
    })
  )
  return Context.make(Metric.FiberRuntimeMetrics, fibers)
}))
