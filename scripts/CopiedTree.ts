/**
 * A copy of the tree whose sources can be changed, so that something runs without the code that is there to prevent it.
 *
 * An edit names text that stands exactly once in its file, so that a list of edits cannot drift from the code in silence.
 */
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  symlinkSync,
  writeFileSync
} from "node:fs"
import { tmpdir } from "node:os"
import { basename, join } from "node:path"

export interface Edit {
  /** From `packages/core/src`. */
  readonly file: string
  readonly find: string
  readonly replace: string
}

const left = new Set(["node_modules", "dist", ".git"])

/** Links what a package has installed; its siblings are those of the copy. */
const linkModules = (root: string, copy: string, name: string): void => {
  const from = join(root, "packages", name, "node_modules")
  const to = join(copy, "packages", name, "node_modules")
  for (const entry of readdirSync(from)) {
    if (entry.startsWith(".")) continue
    if (!entry.startsWith("@")) {
      mkdirSync(to, { recursive: true })
      symlinkSync(realpathSync(join(from, entry)), join(to, entry))
      continue
    }
    mkdirSync(join(to, entry), { recursive: true })
    for (const scoped of readdirSync(join(from, entry))) {
      const sibling = join(copy, "packages", scoped)
      symlinkSync(entry === "@effect-wal" ? sibling : realpathSync(join(from, entry, scoped)), join(to, entry, scoped))
    }
  }
}

/** Copies the tree below a temporary folder, with what is installed; answers where. Whoever asks removes it. */
export const copyTree = (root: string): string => {
  const copy = realpathSync(mkdtempSync(join(tmpdir(), "effect-wal-copy-")))
  cpSync(root, copy, { recursive: true, filter: (path) => !left.has(basename(path)) })
  symlinkSync(join(root, "node_modules"), join(copy, "node_modules"))
  for (const name of readdirSync(join(root, "packages"))) linkModules(root, copy, name)
  return copy
}

const fileOf = (root: string, edit: Edit): string => join(root, "packages/core/src", edit.file)

/** The text after the edit. Throws where what it looks for does not stand in the text exactly once. */
const changed = (text: string, edit: Edit): string => {
  const parts = text.split(edit.find)
  if (parts.length !== 2) {
    throw new Error(`${edit.file} holds ${parts.length - 1} times, not once: ${edit.find}`)
  }
  return parts.join(edit.replace)
}

/** The changed sources by path. Throws where an edit does not fit; edits of one file follow each other. */
export const editedFiles = (root: string, edits: ReadonlyArray<Edit>): ReadonlyMap<string, string> => {
  const texts = new Map<string, string>()
  for (const edit of edits) {
    const path = fileOf(root, edit)
    texts.set(path, changed(texts.get(path) ?? readFileSync(path, "utf8"), edit))
  }
  return texts
}

/** Makes the edits in a copy of the tree; what it answers takes them back. */
export const applyEdits = (copy: string, edits: ReadonlyArray<Edit>): () => void => {
  const after = editedFiles(copy, edits)
  const before = [...after.keys()].map((path) => [path, readFileSync(path, "utf8")] as const)
  for (const [path, text] of after) writeFileSync(path, text)
  return () => {
    for (const [path, text] of before) writeFileSync(path, text)
  }
}
