/**
 * `DiskFileService` on a disk in memory.
 */
import type { DiskFileService, DiskHandle, DiskStat, OpenMode } from "@effect-wal/core/node/DiskFile"
import { Effect } from "effect"
import { posix } from "node:path"
import { joinBytes } from "../JoinBytes.ts"
import type { DiskMachine } from "./DiskMachine.ts"
import type { DiskNode, FileNode } from "./DiskNodes.ts"
import { Refusal } from "./DiskTree.ts"

/** ext4, as statfs(2) numbers it. */
const ext4 = 0xef53

const statOf = (node: DiskNode): DiskStat => ({
  kind: node.kind,
  sizeBytes: node.kind === "file" ? node.content.length : 0,
  modifiedMillis: node.modifiedMillis,
  identity: `1:${node.number}`,
  names: node.kind === "file" ? node.names : 2
})

const fileOf = (node: DiskNode): FileNode => {
  if (node.kind === "directory") throw new Refusal("EISDIR")
  return node
}

const writable = (node: DiskNode, mode: OpenMode): FileNode => {
  if (mode === "read") throw new Refusal("EBADF")
  return fileOf(node)
}

const handleOf = (machine: DiskMachine, node: DiskNode, path: string, mode: OpenMode): DiskHandle => {
  const { tree } = machine
  const written = node.kind === "file" ? { written: node } : {}
  const write = (name: "write" | "writeMany", position: number, bytes: Uint8Array) =>
    machine.change({ name, path }, {
      ...written,
      apply: (now) => tree.write(writable(node, mode), position, bytes, now)
    })
  const sync = (name: "sync" | "syncData") =>
    machine.change({ name, path }, {
      apply: () => node.kind === "file" && node.sync(),
      onRefused: () => node.kind === "file" && node.failSync()
    })
  return {
    write: (bytes, position) => write("write", position, bytes),
    writeMany: (parts, position) => Effect.suspend(() => write("writeMany", position, joinBytes(parts))),
    read: (length, position) => machine.look({ name: "read", path }, () => fileOf(node).content.read(position, length)),
    stat: machine.look({ name: "stat", path }, () => statOf(node)),
    sync: Effect.asVoid(sync("sync")),
    syncData: Effect.asVoid(sync("syncData")),
    truncate: (length) =>
      machine.change({ name: "truncate", path }, {
        apply: (now) => tree.truncate(writable(node, mode), length, now)
      })
  }
}

const openNode = (machine: DiskMachine, path: string, mode: OpenMode) =>
  mode === "create"
    ? machine.change({ name: "create", path }, { apply: (now) => machine.tree.createFile(path, now) })
    : machine.look({ name: "open", path }, () => {
      const node = machine.tree.find(path)
      return mode === "modify" ? fileOf(node) : node
    })

/** Closing a file drops the locks that its process holds on it through whatever: fcntl(2), on record locks. */
const open = (machine: DiskMachine, path: string, mode: OpenMode) =>
  Effect.acquireRelease(
    Effect.tap(openNode(machine, path, mode), (node) => Effect.sync(() => machine.tree.opened(node))),
    (node) =>
      Effect.sync(() => {
        machine.tree.closed(node)
        machine.locks.delete(node)
      })
  ).pipe(Effect.map((node) => handleOf(machine, node, path, mode)))

const lock = (machine: DiskMachine, path: string) =>
  Effect.acquireRelease(
    machine.change({ name: "lock", path }, {
      apply: (now) => {
        const node = fileOf(machine.tree.exists(path) ? machine.tree.find(path) : machine.tree.createFile(path, now))
        if (machine.locks.has(node)) return undefined
        machine.locks.add(node)
        return node
      }
    }),
    (node) => Effect.sync(() => node !== undefined && machine.locks.delete(node))
  ).pipe(Effect.map((node) => node !== undefined))

/** The disk as its processes see it. */
export const makeService = (machine: DiskMachine): DiskFileService => {
  const { tree } = machine
  return {
    open: (path, mode) => open(machine, path, mode),
    makeDirectory: (path) =>
      machine.change({ name: "makeDirectory", path }, { apply: (now) => tree.makeDirectory(path, now) }).pipe(
        Effect.as(true),
        Effect.catchIf((error) => error.code === "EEXIST", () => Effect.succeed(false))
      ),
    syncDirectory: (path) => machine.change({ name: "syncDirectory", path }, { apply: () => tree.syncDirectory(path) }),
    link: (from, to) => machine.change({ name: "link", path: to }, { apply: (now) => tree.link(from, to, now) }),
    rename: (from, to) =>
      machine.change({ name: "rename", path: from }, { apply: (now) => tree.rename(from, to, now) }),
    unlink: (path) => machine.change({ name: "unlink", path }, { apply: (now) => tree.unlink(path, now) }),
    removeTree: (path) => machine.change({ name: "removeTree", path }, { apply: (now) => tree.removeTree(path, now) }),
    list: (path) => machine.look({ name: "list", path }, () => tree.list(path)),
    stat: (path) => machine.look({ name: "stat", path }, () => statOf(tree.find(path))),
    realPath: (path) =>
      machine.look({ name: "stat", path }, () => {
        tree.find(path)
        return posix.resolve("/", path)
      }),
    lock: (path) => lock(machine, path),
    fileSystemType: (path) =>
      machine.look({ name: "stat", path }, () => {
        tree.find(path)
        return ext4
      })
  }
}
