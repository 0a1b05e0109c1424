/**
 * The directories and files of one disk in memory, by path; what each operation does and refuses is what Linux does.
 */
import type { DiskNode } from "./DiskNodes.ts"
import { DirectoryNode, FileNode } from "./DiskNodes.ts"
import type { NameEdit } from "./NameLog.ts"
import { applyEdit, NameLog } from "./NameLog.ts"
import type { Survival } from "./Survival.ts"

/** Thrown by an operation that the system would refuse with this code; it becomes a `DiskError` before anybody sees it. */
export class Refusal {
  readonly code: string

  constructor(code: string) {
    this.code = code
  }
}

const refuse = (code: string): never => {
  throw new Refusal(code)
}

/** A name and the directory that it is, or would be, in. */
interface Spot {
  readonly directory: DirectoryNode
  readonly name: string
  readonly node: DiskNode | undefined
}

export class DiskTree {
  /** Most bytes in all files together. */
  capacityBytes = Infinity
  readonly root: DirectoryNode
  private readonly names: NameLog
  private readonly files = new Set<FileNode>()
  private lastNumber: number

  constructor(root = new DirectoryNode(1, 0), names = new NameLog(), lastNumber = 1) {
    this.root = root
    this.names = names
    this.lastNumber = lastNumber
    for (const file of filesBelow(root)) this.files.add(file)
  }

  get usedBytes(): number {
    let sum = 0
    for (const file of this.files) sum += file.content.length
    return sum
  }

  find(path: string): DiskNode {
    const { node } = this.spot(path)
    return node ?? refuse("ENOENT")
  }

  exists(path: string): boolean {
    return this.spot(path).node !== undefined
  }

  opened(node: DiskNode): void {
    if (node.kind === "file") node.handles++
  }

  closed(node: DiskNode): void {
    if (node.kind === "directory") return
    node.handles--
    this.forgetUnused(node)
  }

  createFile(path: string, now: number): FileNode {
    const spot = this.spot(path)
    if (spot.node !== undefined) return refuse("EEXIST")
    const file = new FileNode(++this.lastNumber, now)
    this.files.add(file)
    this.edit(now, { ...spot, node: file })
    return file
  }

  makeDirectory(path: string, now: number): void {
    const spot = this.spot(path)
    if (spot.node !== undefined) return refuse("EEXIST")
    this.edit(now, { ...spot, node: new DirectoryNode(++this.lastNumber, now) })
  }

  syncDirectory(path: string): void {
    const node = this.find(path)
    if (node.kind === "directory") this.names.sync(node)
    else node.sync()
  }

  /** Writes as much as there is room for, then refuses with `ENOSPC`. */
  write(file: FileNode, position: number, bytes: Uint8Array, now: number): void {
    const room = this.capacityBytes - this.usedBytes + file.content.length - position
    const part = position + bytes.length <= file.content.length ? bytes : bytes.subarray(0, Math.max(0, room))
    file.write(position, part)
    file.modifiedMillis = now
    if (part.length < bytes.length) refuse("ENOSPC")
  }

  truncate(file: FileNode, length: number, now: number): void {
    if (length > file.content.length && this.usedBytes - file.content.length + length > this.capacityBytes) {
      refuse("ENOSPC")
    }
    file.truncate(length)
    file.modifiedMillis = now
  }

  link(from: string, to: string, now: number): void {
    const node = this.find(from)
    const spot = this.spot(to)
    if (spot.node !== undefined) return refuse("EEXIST")
    if (node.kind === "directory") return refuse("EPERM")
    this.edit(now, { ...spot, node })
  }

  rename(from: string, to: string, now: number): void {
    const source = this.spot(from)
    const target = this.spot(to)
    const { node } = source
    if (node === undefined) return refuse("ENOENT")
    // Two names of one file: rename(2) does nothing.
    if (target.node === node) return
    if (node.kind === "directory" && `${to}/`.startsWith(`${from}/`)) return refuse("EINVAL")
    if (from.startsWith(`${to}/`)) return refuse("ENOTEMPTY")
    if (node.kind === "directory" && target.node?.kind === "file") return refuse("ENOTDIR")
    if (node.kind === "file" && target.node?.kind === "directory") return refuse("EISDIR")
    if (target.node?.kind === "directory" && target.node.names.size > 0) return refuse("ENOTEMPTY")
    this.edit(now, { ...target, node }, { ...source, node: undefined })
  }

  unlink(path: string, now: number): void {
    const spot = this.spot(path)
    if (spot.node === undefined) return refuse("ENOENT")
    if (spot.node.kind === "directory") return refuse("EISDIR")
    this.edit(now, { ...spot, node: undefined })
  }

  /** Each name goes by a change of its own, the deepest first. */
  removeTree(path: string, now: number): void {
    const spot = this.spotIfAny(path)
    if (spot?.node === undefined) return
    if (spot.node.kind === "directory") {
      for (const name of spot.node.names.keys()) this.removeTree(`${path}/${name}`, now)
    }
    this.edit(now, { ...spot, node: undefined })
  }

  list(path: string): ReadonlyArray<{ readonly name: string; readonly kind: "file" | "directory" }> {
    const node = this.find(path)
    if (node.kind === "file") return refuse("ENOTDIR")
    return Array.from(node.names, ([name, { kind }]) => ({ name, kind }))
  }

  /** What a power loss leaves, all of it durable. */
  survivors(survival: Survival): DiskTree {
    const images = this.names.survivors(survival)
    const copies = new Map<DiskNode, DiskNode>()
    const copy = (node: DiskNode): DiskNode => {
      const known = copies.get(node)
      if (known !== undefined) return known
      if (node.kind === "file") {
        const file = node.fresh(node.survivors(survival))
        copies.set(node, file)
        return file
      }
      const directory = new DirectoryNode(node.number, node.modifiedMillis)
      copies.set(node, directory)
      for (const [name, below] of images.get(node) ?? node.base) {
        const child = copy(below)
        directory.names.set(name, child)
        directory.base.set(name, child)
        if (child.kind === "file") child.names++
      }
      return directory
    }
    return this.successor(copy(this.root), new NameLog())
  }

  /** The same disk in the same state: what the death of all processes leaves. The last write of `halved` is only half done. */
  copy(halved?: FileNode): DiskTree {
    const copies = new Map<DiskNode, DiskNode>()
    const copy = (node: DiskNode): DiskNode => {
      const known = copies.get(node)
      if (known !== undefined) return known
      const fresh = node.kind === "file" ? node.copy() : new DirectoryNode(node.number, node.modifiedMillis)
      copies.set(node, fresh)
      if (node === halved && fresh.kind === "file") fresh.halveLastWrite()
      if (node.kind === "directory" && fresh.kind === "directory") {
        for (const [name, below] of node.names) fresh.names.set(name, copy(below))
        for (const [name, below] of node.base) fresh.base.set(name, copy(below))
        for (const below of fresh.names.values()) if (below.kind === "file") below.names++
      }
      return fresh
    }
    const root = copy(this.root)
    const directoryOf = (node: DirectoryNode) => {
      const directory = copy(node)
      return directory.kind === "directory" ? directory : refuse("ENOTDIR")
    }
    const changes = this.names.changes.map(({ edits, isDurable }) => ({
      isDurable,
      edits: edits.map((edit) => ({
        directory: directoryOf(edit.directory),
        name: edit.name,
        node: edit.node === undefined ? undefined : copy(edit.node)
      }))
    }))
    return this.successor(root, new NameLog(changes))
  }

  private successor(root: DiskNode, names: NameLog): DiskTree {
    if (root.kind === "file") return refuse("ENOTDIR")
    const tree = new DiskTree(root, names, this.lastNumber)
    tree.capacityBytes = this.capacityBytes
    return tree
  }

  private spot(path: string): Spot {
    const parts = path.split("/").filter((part) => part !== "")
    const name = parts.pop()
    if (name === undefined) return { directory: this.root, name: "", node: this.root }
    let directory = this.root
    for (const part of parts) {
      const next = directory.names.get(part) ?? refuse("ENOENT")
      if (next.kind === "file") return refuse("ENOTDIR")
      directory = next
    }
    return { directory, name, node: directory.names.get(name) }
  }

  /** `undefined` where the directory is missing. */
  private spotIfAny(path: string): Spot | undefined {
    try {
      return this.spot(path)
    } catch (cause) {
      if (cause instanceof Refusal && cause.code === "ENOENT") return undefined
      throw cause
    }
  }

  private edit(now: number, ...edits: ReadonlyArray<NameEdit>): void {
    for (const edit of edits) {
      const before = edit.directory.names.get(edit.name)
      applyEdit(edit.directory.names, edit)
      edit.directory.modifiedMillis = now
      if (edit.node?.kind === "file") edit.node.names++
      if (before?.kind !== "file") continue
      before.names--
      this.forgetUnused(before)
    }
    this.names.add(edits.map(({ directory, name, node }) => ({ directory, name, node })))
  }

  private forgetUnused(file: FileNode): void {
    if (file.names === 0 && file.handles === 0) this.files.delete(file)
  }
}

const filesBelow = (directory: DirectoryNode): ReadonlyArray<FileNode> =>
  Array.from(directory.names.values()).flatMap((node) => node.kind === "file" ? [node] : filesBelow(node))
