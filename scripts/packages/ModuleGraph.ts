/** What a module loads when it is loaded: a walk over the static imports of built files. */
import { readFileSync } from "node:fs"
import { dirname, join } from "node:path"

/** Files of the package, and what is asked of others. */
export interface ModuleGraph {
  readonly files: ReadonlyArray<string>
  /** By name of the module: the file that loads it. */
  readonly others: ReadonlyMap<string, string>
}

const staticImport = /^\s*(?:import|export)\s+(?:[^"';]*?\sfrom\s+)?["']([^"']+)["']/gm

/** The specifiers that a built module loads with itself; `import()` waits until it is asked for. */
const loadedBy = (text: string): ReadonlyArray<string> =>
  [...text.replace(/\/\*[^]*?\*\//g, "").matchAll(staticImport)].map((match) => match[1] ?? "")

/** Everything that loading `entry` loads, which is a built file. */
export const walkModules = (entry: string): ModuleGraph => {
  const files = new Set<string>()
  const others = new Map<string, string>()
  const queue = [entry]
  for (let file = queue.pop(); file !== undefined; file = queue.pop()) {
    if (files.has(file)) continue
    files.add(file)
    for (const specifier of loadedBy(readFileSync(file, "utf8"))) {
      if (specifier.startsWith(".")) queue.push(join(dirname(file), specifier))
      else others.set(specifier, others.get(specifier) ?? file)
    }
  }
  return { files: [...files], others }
}
