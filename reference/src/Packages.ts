/** The packages of the reference, where their exports are listed, and what their exports name without exporting it. */
import { join } from "node:path"

/** The root of the repository. */
export const root = join(import.meta.dirname, "../..")

/** A way to import a package. */
export interface Entry {
  /** As it is imported. */
  readonly name: string
  /** The file that lists its exports, from the root of the repository. */
  readonly file: string
}

/** Every public entry, in the order of the reference. */
export const entries: ReadonlyArray<Entry> = [
  { name: "@effect-wal/core", file: "packages/core/src/index.ts" },
  { name: "@effect-wal/core/node", file: "packages/core/src/node/index.ts" },
  { name: "@effect-wal/s3", file: "packages/s3/src/index.ts" },
  { name: "@effect-wal/testing", file: "packages/testing/src/index.ts" },
  { name: "@effect-wal/server", file: "packages/server/src/index.ts" },
  { name: "@effect-wal/server/client", file: "packages/server/src/client/index.ts" }
]

/**
 * Types that exports name and that nobody has to write down: parts of others, whose members the reference shows where they
 * are used, and what only the package itself can make. By package; an entry that is not needed any more is an error.
 */
export const unexported: Readonly<Record<string, ReadonlyArray<string>>> = {
  "@effect-wal/core": [
    // What repair reads of a log and writes to it: values of the format, made by `plan`.
    "Boundary",
    "Manifest",
    "PlanFailure",
    // Members of options and settings.
    "Field",
    "LookOptions",
    "SpoolSource",
    "ValueOptions",
    "InputError"
  ],
  "@effect-wal/s3": [],
  "@effect-wal/testing": [],
  "@effect-wal/server": [
    // Parts of the running server, which `Server.layer` makes.
    "Certificate",
    "Connections",
    "DirectRoutes",
    "Lifecycle",
    "RequestBody",
    "StreamMetrics",
    "Streams",
    "Tokens",
    // Members of the configuration.
    "ConfigEntry",
    "Environment",
    "LogSettings",
    "OtlpSettings",
    // Members of the client.
    "Failing",
    "Read",
    "Tail"
  ]
}
