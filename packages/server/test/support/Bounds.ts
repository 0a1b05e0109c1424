/** Bounds for a body that is parsed without a request around it. */
import { Effect } from "effect"
import type { ParseBounds } from "../../src/body/ParseBounds.ts"
import { defaultLimits } from "../../src/Settings.ts"

/** No memory is counted. */
export const parseBounds = (maxRecords: number = defaultLimits.maxBatchRecords): ParseBounds => ({
  maxRecords,
  claim: () => Effect.void
})
