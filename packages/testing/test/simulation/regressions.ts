/**
 * Seeds that found a fault once: `docs/found-by-simulation.md` says which. A walk changes with the simulator, so a seed may
 * no longer come by the place of its fault; each fault has a test of its own besides.
 */
export const regressions: ReadonlyArray<{ readonly seed: number; readonly what: string }> = [
  { seed: 334, what: "an end marker that could not be read was taken for a segment" },
  { seed: 1238, what: "a damaged end marker kept a log with a spool closed that had no need of it" },
  { seed: 5100805, what: "damage that was trimmed while a log was verified made healthy segments look doubled" }
]
