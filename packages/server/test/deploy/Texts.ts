/** The texts below `deploy/`, read as what they are. */
import { readFileSync } from "node:fs"
import { parseAllDocuments } from "yaml"

const root = new URL("../../../../", import.meta.url)

/** A file of the repository. */
export const textOf = (path: string): string => readFileSync(new URL(path, root), "utf8")

/** The documents of a YAML file; throws where it is none. */
export const documentsOf = (path: string): ReadonlyArray<unknown> =>
  parseAllDocuments(textOf(path)).map((document) => {
    if ("errors" in document && document.errors.length > 0) throw document.errors[0] ?? new Error(path)
    return "toJS" in document ? document.toJS() : undefined
  })

/** Values of a key of a systemd unit. */
export const unitValues = (unit: string, key: string): ReadonlyArray<string> =>
  [...unit.matchAll(new RegExp(`^${key}=(.*)$`, "gm"))].map((match) => match[1] ?? "")

/** Arguments of an instruction of a Dockerfile, with its continued lines joined. */
export const instructions = (dockerfile: string, name: string): ReadonlyArray<string> =>
  [...dockerfile.replaceAll(/\\\n\s*/g, "").matchAll(new RegExp(`^${name} (.*)$`, "gm"))].map((match) => match[1] ?? "")
