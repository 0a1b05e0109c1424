/** A local log beside one on S3, and the presets with 1, 4 and 8 workers: figures to choose by, without goals. */
import type { Bench } from "../Bench.ts"
import { compareBackends } from "./CompareBackends.ts"
import { comparePresets } from "./ComparePresets.ts"

export const compare: Bench = {
  name: "compare",
  about: "a local log beside one in front of a store of 40 ms (p99 250 ms), and the presets with 1, 4 and 8 workers",
  run: async (context) => [...await compareBackends(context), ...await comparePresets(context)]
}
