/** Errors of the disks of this machine: of the local log, and of the spool. */
import { Schema } from "effect"

/** The disk of the log is full. What was accepted before waits and is stored once there is room; nothing of this call was taken. */
export class DiskFull extends Schema.TaggedError<DiskFull>()("DiskFull", {
  /** Where there is no room. */
  path: Schema.String
}) {
  override get message(): string {
    return `no room on the disk at ${this.path}; nothing was appended; make room, and appends go on by themselves`
  }
}

/** Another process, or another log of this one, has the directory open. The lock ends with its holder, however that ends. */
export class DirectoryLocked extends Schema.TaggedError<DirectoryLocked>()("DirectoryLocked", {
  /** The directory that is in use. */
  path: Schema.String
}) {
  override get message(): string {
    return `${this.path} is in use by another process, or by another log of this one`
  }
}

/** The disk did not confirm that bytes are stored, so nothing was built on them. */
export class SyncFailed extends Schema.TaggedError<SyncFailed>()("SyncFailed", {
  path: Schema.String,
  /** What the operating system said. */
  detail: Schema.String
}) {
  override get message(): string {
    return `${this.path} could not be made durable: ${this.detail}; check the disk and its file system`
  }
}

/** The spool holds records, and nothing says whether the store has them already. Nothing was sent or dropped. */
export class SpoolUndecided extends Schema.TaggedError<SpoolUndecided>()("SpoolUndecided", {
  /** Where the spool is. */
  spool: Schema.String,
  /** The epoch of the first slot that is undecided, and that slot. */
  epoch: Schema.Number,
  slot: Schema.Number,
  reason: Schema.String
}) {
  override get message(): string {
    return `${this.spool} holds segments from slot ${this.slot} of epoch ${this.epoch} on, and ${this.reason}; nothing was changed`
  }
}
