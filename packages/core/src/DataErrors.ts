/** Errors of what is stored: of the manifest, and of segments. */
import { Schema } from "effect"

const Seq = Schema.Number

/** The end of an epoch is recorded, but data stands where its end marker stood. */
export class EndMarkerLost extends Schema.TaggedError<EndMarkerLost>()("EndMarkerLost", { key: Schema.String }) {
  override get message(): string {
    return `${this.key} holds data where the manifest records the end of the epoch; verify the log with WalVerify, then repair it with WalRepair`
  }
}

/** There are segments, but no manifest. */
export class ManifestMissing extends Schema.TaggedError<ManifestMissing>()("ManifestMissing", {
  key: Schema.String,
  /** A segment that is there. */
  found: Schema.String
}) {
  override get message(): string {
    return `${this.key} is missing although ${this.found} exists; nothing was written; rebuild the manifest with WalRepair`
  }
}

/** The manifest existed and is gone. It is never created again by itself. */
export class ManifestVanished
  extends Schema.TaggedError<ManifestVanished>()("ManifestVanished", { key: Schema.String })
{
  override get message(): string {
    return `${this.key} was deleted while the log was open; put it back, or rebuild it with WalRepair`
  }
}

/** The manifest does not decode. Nothing was changed. */
export class ManifestCorrupt extends Schema.TaggedError<ManifestCorrupt>()("ManifestCorrupt", {
  key: Schema.String,
  reason: Schema.String
}) {
  override get message(): string {
    return `${this.key} is damaged: ${this.reason}; nothing was changed; put it back from a copy, or rebuild it with WalRepair`
  }
}

/** The manifest was written by a newer version. Nothing was changed. */
export class ManifestTooNew extends Schema.TaggedError<ManifestTooNew>()("ManifestTooNew", {
  key: Schema.String,
  found: Schema.Number,
  max: Schema.Number
}) {
  override get message(): string {
    return `${this.key} has version ${this.found}, this program reads up to ${this.max}; upgrade the program`
  }
}

/** The key of a segment of this writer holds something else. The log stops: somebody writes below its prefix. */
export class SegmentConflict extends Schema.TaggedError<SegmentConflict>()("SegmentConflict", {
  key: Schema.String,
  found: Schema.String
}) {
  override get message(): string {
    return `${this.key} holds ${this.found}, not the segment of this writer`
  }
}

/** The bytes of a segment are damaged. */
export class SegmentCorrupt extends Schema.TaggedError<SegmentCorrupt>()("SegmentCorrupt", {
  key: Schema.String,
  /** Where in the object the damage was noticed, in bytes. */
  offset: Schema.Number,
  reason: Schema.String
}) {
  override get message(): string {
    return `${this.key} is damaged at byte ${this.offset}: ${this.reason}`
  }
}

/** A segment that must be there is not. */
export class SegmentMissing extends Schema.TaggedError<SegmentMissing>()("SegmentMissing", {
  key: Schema.String,
  /** First missing sequence number, inclusive. */
  from: Seq,
  /** Last missing sequence number, inclusive, as far as anything left knows. */
  to: Seq
}) {
  override get message(): string {
    return `${this.key} is missing: records ${this.from} to ${this.to}`
  }
}

/** A segment uses a version or a critical extension that this program does not know. */
export class SegmentTooNew extends Schema.TaggedError<SegmentTooNew>()("SegmentTooNew", {
  key: Schema.String,
  found: Schema.String
}) {
  override get message(): string {
    return `${this.key} needs a newer program: ${this.found}`
  }
}

/** Two neighbouring segments do not join: numbers or chain differ. */
export class SequenceGap extends Schema.TaggedError<SequenceGap>()("SequenceGap", {
  key: Schema.String,
  /** First number that should have come, inclusive. */
  from: Seq,
  /** Last number before what came, inclusive. */
  to: Seq
}) {
  override get message(): string {
    return `${this.key} does not follow the segment before it: records ${this.from} to ${this.to} are not there`
  }
}
