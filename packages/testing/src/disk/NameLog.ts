/**
 * The changes of names on one disk, in order, until they are surely on disk.
 */
import type { DirectoryNode, DiskNode } from "./DiskNodes.ts"
import type { Survival } from "./Survival.ts"

/** Gives a name of a directory to a node, or to none. */
export interface NameEdit {
  readonly directory: DirectoryNode
  readonly name: string
  readonly node: DiskNode | undefined
}

/** Edits that last together or not at all: one, or two for a rename. */
export interface NameChange {
  readonly edits: ReadonlyArray<NameEdit>
  isDurable: boolean
}

export type Names = ReadonlyMap<string, DiskNode>

export const applyEdit = (names: Map<string, DiskNode>, edit: NameEdit): void => {
  if (edit.node === undefined) names.delete(edit.name)
  else names.set(edit.name, edit.node)
}

export class NameLog {
  readonly changes: Array<NameChange>

  constructor(changes: Array<NameChange> = []) {
    this.changes = changes
  }

  add(edits: ReadonlyArray<NameEdit>): void {
    this.changes.push({ edits, isDurable: false })
  }

  /** Makes the names of the directory durable. A rename from or to it is durable as a whole. */
  sync(directory: DirectoryNode): void {
    for (const change of this.changes) {
      if (change.edits.some((edit) => edit.directory === directory)) change.isDurable = true
    }
    const firstOpen = this.changes.findIndex((change) => !change.isDurable)
    for (const change of this.changes.splice(0, firstOpen === -1 ? this.changes.length : firstOpen)) {
      for (const edit of change.edits) applyEdit(edit.directory.base, edit)
    }
  }

  /** The names that a power loss leaves in each directory; one without an entry here keeps its base. */
  survivors(survival: Survival): ReadonlyMap<DirectoryNode, Names> {
    const images = new Map<DirectoryNode, Map<string, DiskNode>>()
    const count = this.changes.filter((change) => !change.isDurable).length
    let index = 0
    for (const change of this.changes) {
      if (!change.isDurable && !survival.name({ index: index++, count })) continue
      for (const edit of change.edits) {
        const image = images.get(edit.directory) ?? new Map(edit.directory.base)
        images.set(edit.directory, image)
        applyEdit(image, edit)
      }
    }
    return images
  }
}
