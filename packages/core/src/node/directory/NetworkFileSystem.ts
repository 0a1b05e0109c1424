/**
 * File systems that are not this machine's own.
 */
import { Effect } from "effect"
import type { DiskError, DiskFileService } from "../DiskFile.ts"

/** Linux' magic numbers (statfs(2)) of file systems that other machines, or programs we know nothing of, stand behind. */
const networkFileSystems: ReadonlyMap<number, string> = new Map([
  [0x6969, "nfs"],
  [0x517b, "smb"],
  [0xff534d42, "cifs"],
  [0xfe534d42, "smb2"],
  [0x65735546, "fuse"],
  [0x01021997, "9p"],
  [0x5346414f, "afs"],
  [0x73757245, "coda"],
  [0x00c36400, "ceph"],
  [0x0bd00bd0, "lustre"],
  [0x47504653, "gpfs"],
  [0x19830326, "beegfs"],
  [0x01161970, "gfs2"],
  [0x7461636f, "ocfs2"],
  [0x786f4256, "vboxsf"]
])

/** The name of the network file system that holds the path; `undefined` for a local one. Fails with the disk's error. */
export const networkFileSystemOf = (
  disk: DiskFileService,
  path: string
): Effect.Effect<string | undefined, DiskError> =>
  Effect.map(disk.fileSystemType(path), (type) => networkFileSystems.get(type))
