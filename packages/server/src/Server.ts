/** The server, composed. `layer` needs only `Settings`, a `LogOpener` and a file system. */
import { Effect, Layer } from "effect"
import { HttpRouter } from "effect/http"
import { Tokens } from "./auth/Tokens.ts"
import { DirectRoutes } from "./DirectRoutes.ts"
import * as AppendRecords from "./handlers/AppendRecords.ts"
import * as ControlHandlers from "./handlers/ControlHandlers.ts"
import * as DashboardRoutes from "./handlers/DashboardRoutes.ts"
import * as DirectAppend from "./handlers/DirectAppend.ts"
import * as ReadRecords from "./handlers/ReadRecords.ts"
import * as SystemRoutes from "./handlers/SystemRoutes.ts"
import { Lifecycle } from "./Lifecycle.ts"
import * as Listener from "./Listener.ts"
import { StreamMetrics } from "./observe/StreamMetrics.ts"
import * as ProcessMetrics from "./ProcessMetrics.ts"
import { RequestBody } from "./RequestBody.ts"
import { Streams } from "./Streams.ts"

const routes = Layer.mergeAll(
  AppendRecords.layer,
  DirectAppend.layer,
  ReadRecords.layer,
  ControlHandlers.layer,
  DashboardRoutes.layer,
  SystemRoutes.layer
)

/** Ids have at most 128 characters. The router's own 100 would hide the longest, and the answer that one is too long. */
const maxParamLength = 1_024

const serving = HttpRouter.serve(routes, {
  disableLogger: true,
  disableListenLog: true,
  routerConfig: { maxParamLength }
})

/** Ends what is still connected before the server is closed, so that closing never waits for a client. */
const hangUp = Layer.effectDiscard(Effect.gen(function*() {
  const connections = yield* Listener.Connections
  yield* Effect.addFinalizer(() => connections.closeAll)
}))

/** A listening server with all its routes. */
export const layer = hangUp.pipe(
  Layer.provideMerge(serving),
  Layer.provideMerge(Listener.layer),
  Layer.provideMerge(StreamMetrics.layer),
  Layer.provideMerge(
    Layer.mergeAll(Streams.layer, Tokens.layer, RequestBody.layer, Lifecycle.layer, DirectRoutes.layer)
  ),
  Layer.provideMerge(ProcessMetrics.layer)
)
