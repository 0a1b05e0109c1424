/** The branches of opening a log: each step of a take-over, and each way that it can go. */
import { type Branch, byAnswer, inFile } from "./Branch.ts"

const manifest = [
  ...inFile("4.2", "packages/core/src/manifest/ManifestStore.ts", [
    ["1. the manifest is not there", "if (read.failure.reason === \"NotFound\") ▸return undefined"],
    ["1. the manifest is there (every read of it)", "▸const manifest = yield* decodeManifest(access.key"],
    ["2. and 4. a swap is answered 200 (commits too)", "if (Result.isSuccess(answer)) ▸return { manifest, tag"],
    ["2. and 4. a swap is not answered 200: read (commits too)", "▸const found = yield* rereadManifest(access)"],
    [
      "2. and 4. read back, my commit id: done (commits too)",
      "if (found.manifest.commit_id === commitId) ▸return found"
    ],
    ["2. and 4. read back, mine or nobody's: again (commits too)", "▸held = found"],
    [
      "4. read back, another writer's: WriterFenced (commits too)",
      "▸return yield* fencedBy(access.streamId, owner, found.manifest)"
    ],
    ["a manifest that was there is gone: ManifestVanished", "return read ?? ▸(yield* new ManifestVanished(", "damage"],
    [
      "3. what looks like damage, and a newer writer has the manifest: WriterFenced",
      "▸return yield* fencedBy(access.streamId, owner, manifest)"
    ]
  ]),
  ...byAnswer("4.2", [
    ["1. creation of the manifest, 409: again", "manifest creation: 409"],
    ["1. creation of the manifest, timeout: again", "manifest creation: timeout"],
    ["1. creation of the manifest, reset or 5xx: again", "manifest creation: 5xx or reset"],
    ["2. claim, 200", "claim: 200"],
    ["2. claim, 412", "claim: 412"],
    ["2. claim, unknown", "claim: unknown"],
    ["2. claim, read back: mine, done", "claim: read back, mine"],
    ["2. claim, read back: not mine, again", "claim: read back, again"],
    ["4. activation, 200", "activation: 200"],
    ["4. activation, 412", "activation: 412"],
    ["4. activation, unknown", "activation: unknown"],
    ["4. activation, read back: mine, done", "activation: read back, mine"],
    ["4. activation, read back: an earlier body of mine, again", "activation: read back, again"],
    ["4. activation, read back: another writer's", "activation: read back, another writer's"]
  ])
]

const takeover = inFile("4.2", "packages/core/src/epoch/Takeover.ts", [
  ["1. absent: LIST", "(yield* readManifest(access)) ?? ▸(yield* createManifest(request, nonce))"],
  ["1. absent, segments: read once more", "if (found !== undefined) {\n    ▸return (yield* readManifest(access))"],
  ["1. absent, segments, and absent still: ManifestMissing", "?? ▸(yield* new ManifestMissing({", "damage"],
  ["1. absent, no segments: create", "▸const logId = yield* freshNonce"],
  ["1. created", "Effect.map((tag): HeldManifest => ▸({ manifest, tag }))"],
  ["1. 412 on creation: read it", "(error) => error.reason === \"AlreadyExists\", () => ▸rereadManifest(access)"],
  ["2. claim, each try built anew", "next: (current, commitId) => ▸claim(current, {"],
  ["2. claimed at the first try: what was listed meanwhile counts", "return { claimed, listed: tries === 1 ? ▸listed"],
  ["2. not at the first try: what was listed meanwhile is forgotten", "tries === 1 ? listed : ▸undefined"],
  ["2. claimed", "▸const manifest = claimed.manifest"],
  ["3. no live epoch", "manifest.live === 0 ? ▸Effect.succeed(noLiveEpoch)"],
  ["3. a live epoch: end it", ": ▸endLiveEpoch(request, manifest, opener, listed)"],
  ["3. a recorded end: its marker is there", "return isMarkerOf(header, place) ? ▸undefined"],
  [
    "3. a recorded end: no marker, put it back",
    "▸yield* Effect.logWarning(`end marker ${key} is missing and is put back`)",
    "damage"
  ],
  ["3. a recorded end: the marker is put back", "if (Result.isSuccess(answer)) ▸return\n      // Taken", "damage"],
  [
    "3. a recorded end: not stored at once, 412: look",
    "▸if (answer.failure.reason !== \"AlreadyExists\") return",
    "damage"
  ],
  ["3. a recorded end: data there, EndMarkerLost", ": ▸yield* new EndMarkerLost({ key })", "damage"],
  ["3. damage is seen: whose manifest is it", "() => ▸checkOwner(accessOf(request), manifest)"],
  ["4. ends stay in the manifest", "moved.length === 0\n    ? ▸undefined"],
  ["4. the oldest ends move to an archive", ": ▸yield* archiveEnds(request, {", "many epochs"],
  ["4. activation, each try built anew", "▸activate(current, {"],
  ["4. activated", "▸return {\n    held,"],
  ["5. the link is the recorded end", "link: ended === undefined ? ▸recordedTail(manifest)"],
  ["5. the link is the end that was found", "link: ended === undefined ? recordedTail(manifest) : ▸ended.end"]
])

const liveEpoch = inFile("4.2", "packages/core/src/epoch/EndLiveEpoch.ts", [
  [
    "3. the search starts at a checkpoint or trim point above the epoch's start",
    "right.slot > left.slot ? ▸right : left"
  ],
  ["3. the search does not start at this one of the two", "right.slot > left.slot ? right : ▸left"],
  ["3. LIST from max(trim point, checkpoint)", "▸const listed = yield* listSlots(search, manifest.live, after)"],
  [
    "3. nothing before the end in this epoch, or trimmed: no header is read",
    "▸return { end: { ...from, slot }, cursors } satisfies EndedEpoch\n  }\n  const key"
  ],
  ["3. the header of the last segment is read", "▸const calls = callSpanOf(header)"],
  [
    "3. the last segment is gone, below every cursor and the checkpoint: its end is known",
    "▸yield* Effect.logWarning(`segment ${key} is missing; every cursor",
    "damage"
  ],
  [
    "3. the checkpoint says that the slot before the end was durable: SegmentMissing",
    "const first = slot === from.slot ? ▸committed + 1",
    "damage"
  ],
  [
    "3. the last segment was listed and is gone: SegmentMissing",
    "const first = slot === from.slot ? committed + 1 : ▸from.seq + 1",
    "damage"
  ],
  [
    "3. the object before the missing slot is a marker, or damage: no last segment there",
    "▸return yield* new SegmentCorrupt({ key, offset: 16, reason: \"it is not the segment of this slot\""
  ],
  ["3. nothing seen was durable above the end", "if (through === undefined) ▸return"],
  [
    "3. something seen was durable above the end: SegmentMissing, nothing is written",
    "▸return yield* new SegmentMissing({\n      key: slotKey(search.prefix, manifest.live, tail.end.slot)",
    "damage"
  ],
  ["3. a marker of an earlier opening is the end", "▸const found = yield* tailBefore(search, marker)"],
  ["3. no marker yet: the first missing slot is the end", "▸const found = yield* Effect.fromResult(tail)"],
  ["3. the marker is put", "if (Result.isSuccess(answer)) ▸return ended"],
  ["3. 412 on the marker: look", "▸const header = yield* lookAt(search, search.manifest.live, slot)"],
  ["3. 412 on the marker, a marker there: ended", "if (isMarkerOf(header, place(search, slot))) ▸return ended"],
  ["3. 412 on the marker, a segment there: go on", "if (isSegmentOf(header, place(search, slot))) ▸return taken"],
  [
    "3. 412 on the marker, anything else there: SegmentCorrupt",
    "▸return yield* new SegmentCorrupt({\n          key,",
    "damage"
  ],
  [
    "3. the marker is not put, nothing else there either (412 then 404, or unknown): put again",
    "▸yield* pauseBeforeRetry(search.backoff, attempt, error.retryAfterMillis)"
  ],
  ["3. the marker is unknown (or refused)", "} else ▸if (!error.isRetryable) return"],
  ["3. the search ends with a marker put or found", "=== \"ended\" ? ▸found"],
  [
    "3. the slot was stored meanwhile: jump to the highest stored slot",
    "▸if (round < roundsBeforeBarrier || stopped) continue"
  ],
  [
    "3. after 3 rounds: a barrier above the highest slot",
    "▸yield* Effect.logInfo(`the writer of epoch ${search.manifest.live} is busy"
  ],
  [
    "3. a barrier stands, or it is too early for one: the next round",
    "if (round < roundsBeforeBarrier || stopped) ▸continue"
  ]
])

const search = [
  ...inFile("4.2", "packages/core/src/epoch/EndOfEpoch.ts", [
    ["3. a header above the end: did it know the slot as durable?", "▸if (header.watermarkSlot <= left.slot) continue"],
    ["3. a header above the end did not", "if (header.watermarkSlot <= left.slot) ▸continue"],
    ["3. a header above the end says durable: SegmentMissing", "▸through = Math.max(through ?? left.seq + 1", "damage"],
    [
      "3. a cursor says durable: SegmentMissing",
      "evidence.highestCursor > left.seq ? ▸evidence.highestCursor",
      "damage"
    ]
  ]),
  ...inFile("4.2", "packages/core/src/epoch/SlotLook.ts", [
    [
      "3. a slot that is looked at is not there (any look)",
      "return read.failure.reason === \"NotFound\" ? ▸undefined",
      "damage"
    ]
  ]),
  ...inFile("4.2", "packages/core/src/format/SegmentCodec.ts", [
    [
      "3. a header is unreadable: SegmentCorrupt (any read of one)",
      ": ▸new SegmentCorrupt({ key, offset: decoded.offset, reason: decoded.reason })\n  )\n}\n\nexport interface ReadContext",
      "damage"
    ]
  ])
]

const after = [
  ...inFile("4.2", "packages/core/src/manifest/Manifest.ts", [
    ["4. an epoch that ends at 0, or none: no end is recorded", "ended.slot === 0 ? ▸before"],
    ["4. the end is recorded", "ended.slot === 0 ? before : ▸[...before, ended]"]
  ]),
  ...inFile("4.2", "packages/core/src/epoch/EndsArchive.ts", [
    ["4. the archive is stored", "▸return { key, through }", "many epochs"],
    ["4. the archive is unknown: again", "▸yield* pauseBeforeRetry(context.backoff, attempt", "many epochs"],
    [
      "3. an archive of ends is read",
      "▸const object = yield* retryWhilePassing(store.get(key), context)",
      "many epochs"
    ],
    [
      "3. an archive of ends is gone: ManifestCorrupt",
      "? ▸new ManifestCorrupt({ key, reason: \"the manifest names it",
      "damage"
    ]
  ]),
  ...inFile("4.2", "packages/core/src/write/SlotLedger.ts", [
    ["5. the first segment carries the link", "this.head.slot === 0 ? ▸[encodeLink(settings.link)]"]
  ]),
  ...inFile("4.2", "packages/core/src/manifest/ManifestCoordinator.ts", [
    [
      "2. an older writer comes to the manifest: WriterFenced",
      "case \"WriterFenced\":\n        ▸return this.fence(error)"
    ]
  ]),
  ...inFile("4.2", "packages/core/src/log/OpenLog.ts", [
    ["open_timeout: OpenTimeout", "▸const afterMillis = Duration.toMillis(options.openTimeout)"],
    ["a live epoch was ended: a take-over", "if (opened.ended !== undefined) ▸stats.takeovers++"]
  ])
]

/** Section 4.2. */
export const takeoverBranches: ReadonlyArray<Branch> = [...manifest, ...takeover, ...liveEpoch, ...search, ...after]
