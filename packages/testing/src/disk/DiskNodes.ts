/**
 * Files and directories of a disk in memory. Each knows two states: what every process sees (the page cache), and by a base
 * and a list of changes what a power loss may leave.
 */
import { Bytes } from "./Bytes.ts"
import type { Survival } from "./Survival.ts"
import { sectorBytes } from "./Survival.ts"

/**
 * `pending`: not synced. `unsure`: the sync that should have covered it failed; the kernel forgets that it was dirty, so no
 * later sync brings it to disk, and nobody knows whether it got there. `durable`: on disk.
 */
type ChangeState = "pending" | "unsure" | "durable"

type FileChange =
  | { readonly kind: "write"; readonly position: number; readonly bytes: Uint8Array; state: ChangeState }
  | { readonly kind: "truncate"; readonly length: number; state: ChangeState }

const apply = (image: Bytes, change: FileChange): void =>
  change.kind === "write" ? image.write(change.position, change.bytes) : image.resize(change.length)

/** The parts of a write that lie in one sector each. */
const sectorsOf = (position: number, bytes: Uint8Array) => {
  const parts: Array<{ readonly at: number; readonly bytes: Uint8Array }> = []
  for (let done = 0; done < bytes.length;) {
    const at = position + done
    const length = Math.min(bytes.length - done, sectorBytes - at % sectorBytes)
    parts.push({ at, bytes: bytes.subarray(done, done + length) })
    done += length
  }
  return parts
}

export class FileNode {
  readonly kind = "file"
  readonly number: number
  /** What processes read. */
  content = new Bytes()
  modifiedMillis: number
  /** How many names and open handles it has; without any, its room is free again. */
  names = 0
  handles = 0
  private base = new Bytes()
  private changes: Array<FileChange> = []

  constructor(number: number, modifiedMillis: number) {
    this.number = number
    this.modifiedMillis = modifiedMillis
  }

  get changeCount(): number {
    return this.changes.length
  }

  write(position: number, bytes: Uint8Array): void {
    if (bytes.length > 0) this.add({ kind: "write", position, bytes: bytes.slice(), state: "pending" })
  }

  truncate(length: number): void {
    this.add({ kind: "truncate", length, state: "pending" })
  }

  /** Makes what is pending durable. */
  sync(): void {
    for (const change of this.changes) if (change.state === "pending") change.state = "durable"
    const firstOpen = this.changes.findIndex((change) => change.state !== "durable")
    for (const change of this.changes.splice(0, firstOpen === -1 ? this.changes.length : firstOpen)) {
      apply(this.base, change)
    }
  }

  /** What a failed sync leaves: pages that count as clean and may not be on disk. */
  failSync(): void {
    for (const change of this.changes) if (change.state === "pending") change.state = "unsure"
  }

  /** Gives the last write up to a half of it, as when its process was killed in the middle. */
  halveLastWrite(): void {
    const last = this.changes.at(-1)
    if (last?.kind !== "write") return
    this.changes.splice(-1, 1, { ...last, bytes: last.bytes.subarray(0, last.bytes.length >>> 1) })
    this.content = this.base.copy()
    for (const change of this.changes) apply(this.content, change)
  }

  /** The bytes that a power loss leaves. */
  survivors(survival: Survival): Bytes {
    const image = this.base.copy()
    const count = this.changes.filter((change) => change.state !== "durable").length
    let index = 0
    for (const change of this.changes) {
      if (change.state === "durable") apply(image, change)
      else applyPart(image, change, { index: index++, count }, survival)
    }
    return image
  }

  /** The same file, in the same state, for another disk. */
  copy(): FileNode {
    const copy = this.fresh(this.content.copy())
    copy.base = this.base.copy()
    copy.changes = this.changes.map((change) => ({ ...change }))
    return copy
  }

  /** The same file with these bytes, all durable. */
  fresh(content: Bytes): FileNode {
    const fresh = new FileNode(this.number, this.modifiedMillis)
    fresh.content = content
    fresh.base = content.copy()
    return fresh
  }

  private add(change: FileChange): void {
    apply(this.content, change)
    this.changes.push(change)
  }
}

const applyPart = (image: Bytes, change: FileChange, place: { index: number; count: number }, survival: Survival) => {
  if (change.kind === "truncate") {
    if (survival.data(place, { index: 0, count: 1 }) === "kept") apply(image, change)
    return
  }
  const sectors = sectorsOf(change.position, change.bytes)
  for (const [index, part] of sectors.entries()) {
    const fate = survival.data(place, { index, count: sectors.length })
    if (fate === "kept") image.write(part.at, part.bytes)
    else if (fate === "grown") image.resize(Math.max(image.length, part.at + part.bytes.length))
  }
}

export class DirectoryNode {
  readonly kind = "directory"
  readonly number: number
  /** What processes see. */
  readonly names = new Map<string, DiskNode>()
  /** What surely is on disk, before the changes that `NameLog` still holds. */
  readonly base = new Map<string, DiskNode>()
  modifiedMillis: number

  constructor(number: number, modifiedMillis: number) {
    this.number = number
    this.modifiedMillis = modifiedMillis
  }
}

export type DiskNode = FileNode | DirectoryNode
