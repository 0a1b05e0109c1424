/** The decoders that `pnpm fuzz` knows, by name; each is loaded when it is asked for, with all that it needs. */
import type { FuzzTarget } from "../../packages/testing/src/fuzz/FuzzTarget.ts"

const loaders: ReadonlyMap<string, () => Promise<FuzzTarget>> = new Map([
  ["segment", () => import("../../packages/core/test/fuzz/SegmentTarget.ts").then((module) => module.segmentTarget)],
  ["manifest", () => import("../../packages/core/test/fuzz/ManifestTarget.ts").then((module) => module.manifestTarget)],
  ["journal", () => import("../../packages/core/test/fuzz/JournalTarget.ts").then((module) => module.journalTarget)],
  ["ndjson", () => import("../../packages/server/test/fuzz/BodyTarget.ts").then((module) => module.bodyTarget)],
  ["config", () => import("../../packages/server/test/fuzz/ConfigTarget.ts").then((module) => module.configTarget)],
  ["s3", () => import("../../packages/s3/test/fuzz/AnswerTarget.ts").then((module) => module.answerTarget)]
])

/** In the order of `--target all`. */
export const targetNames: ReadonlyArray<string> = [...loaders.keys()]

/** The target of this name; rejects for a name that is not in `targetNames`. */
export const loadTarget = (name: string): Promise<FuzzTarget> =>
  loaders.get(name)?.() ?? Promise.reject(new Error(`no target ${name}`))
