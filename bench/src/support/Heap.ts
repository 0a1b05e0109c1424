/** Memory that is in use, not garbage. */
import { setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"

setFlagsFromString("--expose-gc")
const collect: () => void = runInNewContext("gc")

/** Bytes of the heap and of buffers, once the garbage is gone. */
export const usedBytes = (): number => {
  collect()
  // Buffers that the first one has found unused are counted until they are swept.
  collect()
  const { external, heapUsed } = process.memoryUsage()
  return heapUsed + external
}
