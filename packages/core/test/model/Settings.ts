/** Settings of a log as a program would get them, for the models. */
import type { PresetName } from "@effect-wal/core/config/Presets"
import { resolveOptions, type WalOptionsInput } from "@effect-wal/core/config/ResolveOptions"
import { Effect } from "effect"

export const settingsOf = (input: Partial<WalOptionsInput> = {}) =>
  Effect.orDie(resolveOptions({ nodeId: "node", streamId: "log", ...input }))

export const presetOf = (preset: PresetName, input: Partial<WalOptionsInput> = {}) => settingsOf({ preset, ...input })

/** The numbers of the source documents: 10,000 messages a second of 1 kB. */
export const sourceLoad = { recordsPerSecond: 10_000, recordBytes: 1_000 }
