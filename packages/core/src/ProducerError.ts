/** What can be wrong with the producer of a call: the part of `WalError.ts` about appending once. */
import { Schema } from "effect"

const Seq = Schema.Number

/** The producer of a call breaks a rule. Nothing of the call was appended. */
export class InvalidProducer extends Schema.TaggedError<InvalidProducer>()("InvalidProducer", {
  /** `id` or `sequence`. */
  field: Schema.String,
  value: Schema.String,
  rule: Schema.String
}) {
  override get message(): string {
    return `producer ${this.field} ${JSON.stringify(this.value)} ${this.rule}; nothing was appended`
  }
}

/** The producer has made another call under this sequence. Nothing of this one was appended. */
export class ProducerConflict extends Schema.TaggedError<ProducerConflict>()("ProducerConflict", {
  id: Schema.String,
  sequence: Schema.Number,
  /** The records of the other call. */
  first: Seq,
  last: Seq
}) {
  override get message(): string {
    return `producer ${JSON.stringify(this.id)} used sequence ${this.sequence} for other records, ` +
      `${this.first} to ${this.last}; nothing was appended`
  }
}

/** The producer is past this sequence, and the call is not remembered: whether it was appended is not known any more. */
export class ProducerSequenceTooOld extends Schema.TaggedError<ProducerSequenceTooOld>()("ProducerSequenceTooOld", {
  id: Schema.String,
  sequence: Schema.Number,
  /** The highest sequence of the producer. */
  newest: Schema.Number
}) {
  override get message(): string {
    return `producer ${JSON.stringify(this.id)} is at sequence ${this.newest}; ${this.sequence} is not remembered; ` +
      "nothing was appended now"
  }
}

/** A producer's call is kept in one segment, and this one does not fit into one. Nothing of it was appended. */
export class ProducerCallTooLarge extends Schema.TaggedError<ProducerCallTooLarge>()("ProducerCallTooLarge", {
  records: Schema.Number,
  limitRecords: Schema.Number,
  sizeBytes: Schema.Number,
  limitBytes: Schema.Number
}) {
  override get message(): string {
    return `the call has ${this.records} records and ${this.sizeBytes} bytes; with a producer it must fit into one ` +
      `segment, ${this.limitRecords} records and ${this.limitBytes} bytes; nothing was appended`
  }
}

/** What a call with a producer can be refused with. */
export type ProducerError = InvalidProducer | ProducerConflict | ProducerSequenceTooOld | ProducerCallTooLarge
