/** The log of a walk. */
import { logPrefix } from "@effect-wal/core/LogId"

export const simLog = { nodeId: "node", streamId: "log" } as const

/** Of all its keys. */
export const simPrefix = logPrefix({ prefix: "", ...simLog })
