/** Prometheus' own checker, where it is installed; the strict parser of these tests is always there. */
import { spawnSync } from "node:child_process"

/** Whether `promtool` can be run. Debian has it in the package `prometheus`. */
export const hasPromtool = spawnSync("promtool", ["--version"], { stdio: "ignore" }).status === 0

/** Stands in the name of a test that needs it, so that one that was left out says why. */
export const withPromtool = hasPromtool ? "promtool" : "promtool (LEFT OUT: it is not installed)"

/** Runs it; answers the exit code and all that it said. */
export const promtool = (args: ReadonlyArray<string>, input = ""): { readonly code: number; readonly said: string } => {
  const { status, stderr, stdout } = spawnSync("promtool", args, { input, encoding: "utf8" })
  return { code: status ?? -1, said: `${stdout}${stderr}` }
}
