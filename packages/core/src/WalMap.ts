/** Many logs by stream id: each is opened when it is first asked for, and shared by all who hold it. */
import { Context, type Duration, Effect, Layer, LayerMap } from "effect"
import type { WalOptionsInput } from "./config/ResolveOptions.ts"
import type { ObjectStore } from "./store/ObjectStore.ts"
import { Wal } from "./Wal.ts"
import type { WalOpenError } from "./WalError.ts"

/**
 * Logs by stream id: `Effect.provide(effect, map.get("orders"))` runs an effect with the `Wal` of that stream.
 *
 * A log stays open while somebody holds it, and closes, drained, when the last one lets go; `layer` with
 * `idleTimeToLive` keeps it open longer.
 */
export class WalMap extends Context.Service<WalMap, LayerMap.LayerMap<string, Wal, WalOpenError>>()(
  "@effect-wal/core/WalMap"
) {
  /** `options` answers the options of a stream, by its id. */
  static readonly layer = (
    options: (streamId: string) => WalOptionsInput,
    settings?: { readonly idleTimeToLive?: Duration.Input }
  ): Layer.Layer<WalMap, never, ObjectStore> =>
    Layer.effect(
      WalMap,
      Effect.map(LayerMap.make((streamId: string) => Wal.layer(options(streamId)), settings), WalMap.of)
    )
}
