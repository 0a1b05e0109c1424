/** The branches of the result of a segment PUT: each row of the table, and each thing that is done. */
import { type Branch, byAnswer, inFile } from "./Branch.ts"

const worker = inFile("4.1", "packages/core/src/write/PutWorker.ts", [
  ["200: confirmed", "if (Result.isSuccess(answer)) ▸return true"],
  ["412: look at what has the key", "▸const looked = yield* this.look(stamped, packed)"],
  ["412, my nonce and checksum: confirmed", "if (step._tag === \"Confirmed\") ▸return true"],
  ["412, an end marker: WriterFenced", "▸const owner = step.owner"],
  ["412, then the GET says 404: undecided, PUT again", "if (read.failure.reason === \"NotFound\") ▸return undefined"],
  ["412, then the GET failed: GET again", "▸stats.countRetry(read.failure, yield* monotonicNow)"],
  [
    "412, anything else with a readable header: SegmentConflict, stop",
    "▸this.parts.fate.end(new SegmentConflict({ key: stamped.key, found: step.found }))",
    "damage"
  ],
  [
    "412, no readable header: SegmentConflict, stop",
    "▸fate.end(new SegmentConflict({ key: stamped.key, found: found.failure.message }))",
    "damage"
  ],
  ["no 200 and no 412: same key, same bytes again", "▸stats.countRetry(error, yield* monotonicNow)"],
  [
    "no 200 and no 412: the log is over by now, unknown",
    "yield* this.parts.onRetry(stamped.key, error)\n      }\n      if (this.isOver()) ▸return false"
  ],
  [
    "fenced or closed in the pause before the next PUT: unknown",
    "yield* this.pause(attempt, error.retryAfterMillis)\n      if (this.isOver()) ▸return false"
  ],
  [
    "fenced or closed in the pause before the next GET: unknown",
    "yield* this.pause(attempt, read.failure.retryAfterMillis)\n      if (this.isOver()) ▸return false"
  ],
  [
    "an end marker, a slot below it under way: wait for its answer",
    "if (slot >= first && slot < this.fencing.slot) ▸return"
  ],
  ["an end marker, no slot below it under way: the log ends", "▸this.parts.fate.end(this.fencing.error)"],
  [
    "an end marker, one at a lower slot or the manifest known before: nothing new",
    "if (this.fencing !== undefined && this.fencing.slot <= slot) ▸return"
  ]
])

const ledger = inFile("4.1", "packages/core/src/write/SlotLedger.ts", [
  ["a slot confirmed, all before it too: acknowledged", "▸const stamped = this.given.get(this.durablePoint.slot)"]
])

const watermark = inFile("4.1", "packages/core/src/write/DurableWatermark.ts", [
  ["a slot confirmed, one before it not: not acknowledged yet", "if (confirmed.length === 0) ▸return"]
])

const answers = byAnswer("4.1", [
  ["409: retry", "segment: 409"],
  ["timeout: retry, may land later", "segment: timeout"],
  ["reset or 5xx: retry, may land later", "segment: 5xx or reset"],
  ["429: retry, may land later", "segment: 429"],
  ["403: retry capped, nothing dropped", "segment: 403"],
  ["404 NoSuchBucket: retry capped, nothing dropped", "segment: no bucket"],
  ["no or expired credentials: retry capped, nothing dropped", "segment: credentials"]
])

const s3 = [
  ...inFile("4.1", "packages/s3/src/AnswerInspection.ts", [
    ["S3: 200 with an error in its body", "? undefined : ▸{ kind: \"error-in-success\"", "s3"]
  ]),
  ...inFile("4.1", "packages/s3/src/S3Answer.ts", [
    ["S3: an error in a 200 is unknown", "the write: unknown, ask again.\n      ▸return failure.code", "s3"],
    ["S3: 412 on a create is a taken key", "? ▸\"AlreadyExists\"", "s3"],
    ["S3: 409 is undecided", "case 409:\n      return isWrite(operation) ? ▸\"Conflict\"", "s3"],
    [
      "S3: the code of a 409 is undecided",
      "if (conflictCodes.has(code)) return isWrite(operation) ? ▸\"Conflict\"",
      "s3"
    ],
    ["S3: time-out is unknown", "case \"timeout\":\n      ▸return \"TimedOut\"", "s3"],
    ["S3: reset is unknown", "case \"transport\":\n      ▸return \"Unavailable\"", "s3"],
    ["S3: 5xx is unknown", "status >= 500 && status <= 599 ? ▸\"Unavailable\"", "s3"],
    ["S3: 429 or 503 is unknown", "case 503:\n      ▸return \"Throttled\"", "s3"],
    ["S3: SlowDown and its like are unknown", "if (throttleCodes.has(code)) ▸return \"Throttled\"", "s3"],
    ["S3: 403 cannot write now", "case 403:\n      ▸return \"AccessDenied\"", "s3"],
    ["S3: NoSuchBucket cannot write now", "if (code === \"NoSuchBucket\") ▸return \"NoSuchBucket\"", "s3"],
    [
      "S3: expired credentials cannot write now",
      "if (expiredCodes.has(code)) ▸return \"CredentialsUnavailable\"",
      "s3"
    ],
    ["S3: no credentials cannot write now", "case \"credentials\":\n      ▸return \"CredentialsUnavailable\"", "s3"],
    ["S3: 501 is not supported", "case 501:\n      ▸return \"NotSupported\"", "s3"],
    ["S3: NotImplemented is not supported", "if (code === \"NotImplemented\") ▸return \"NotSupported\"", "s3"]
  ])
]

const probe = inFile("4.1", "packages/core/src/epoch/StoreProbe.ts", [
  ["probe: 501 is refused at start", "▸return yield* unsupported(probe, check, error.detail)", "probe"],
  [
    "probe: an ignored condition is refused at start",
    "▸return yield* unsupported(probe, check, \"the write was done\")",
    "probe"
  ],
  ["probe: two creates at once done is refused at start", "if (done.length > 1) ▸return yield* unsupported(", "probe"],
  ["probe: no create at once done is refused at start", "if (!undecided) ▸return yield* unsupported(", "probe"],
  [
    "probe: another body read back is refused at start",
    "▸return yield* unsupported(probe, check, \"what is read back is not what was written\")",
    "probe"
  ]
])

const spool = inFile("4.1", "packages/core/src/log/SpoolRecovery.ts", [
  ["spooled slot, 200: stored", "if (Result.isSuccess(answer)) ▸return \"stored\"", "spool"],
  ["spooled slot, 412: look", "▸const found = yield* lookAt(context, place.epoch, place.slot)", "spool"],
  ["spooled slot, 412, mine: stored", "if (step?._tag === \"Confirmed\") ▸return \"stored\"", "spool"],
  ["spooled slot, 412, an end marker: ended", "if (step?._tag === \"Fenced\") ▸return \"ended\"", "spool"],
  ["spooled slot, 412 then 404, or unknown: PUT again", "▸yield* pauseBeforeRetry(context.backoff, attempt", "spool"]
])

/** Section 4.1. */
export const putBranches: ReadonlyArray<Branch> = [
  ...worker,
  ...answers,
  ...ledger,
  ...watermark,
  ...spool,
  ...probe,
  ...s3
]
