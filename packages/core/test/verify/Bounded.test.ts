/** Memory does not grow with the log: a store that makes its segments as they are asked for, with a gauge of what is held. */
import { ObjectStore } from "@effect-wal/core/store/ObjectStore"
import { ObjectStoreError } from "@effect-wal/core/store/ObjectStoreError"
import * as WalVerify from "@effect-wal/core/WalVerify"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import type { Boundary } from "../../src/format/Boundary.ts"
import { boundaryAfter, chainSeed } from "../../src/format/ChainHash.ts"
import { encodeManifest } from "../../src/format/ManifestCodec.ts"
import { manifestKey, parseSlotKey, slotKey } from "../../src/format/ObjectKey.ts"
import { OpenColumns } from "../../src/format/OpenColumns.ts"
import { encodeBody } from "../../src/format/SegmentBody.ts"
import { encodeSegment } from "../../src/format/SegmentCodec.ts"
import type { SegmentHeader } from "../../src/format/SegmentHeader.ts"
import { newManifest } from "../../src/manifest/Manifest.ts"
import { nodeDigest } from "../../src/node/NodeDigest.ts"
import { drive, prefix } from "../scenarios/World.ts"
import { identity, onStore, short } from "./Checked.ts"

const logId = "1".repeat(32)
const perSegment = 4
const payloadBytes = 4_096

const bodyOf = (): Uint8Array => {
  const columns = new OpenColumns()
  for (let index = 0; index < perSegment; index++) columns.push({ payload: new Uint8Array(payloadBytes) }, 1_000)
  return encodeBody(columns)
}

/** A live log of so many segments. What is asked for is made; a slot in `missing` is not there. */
const generated = (segments: number, missing: ReadonlySet<number>) => {
  const body = bodyOf()
  const crc = nodeDigest.crc32(body)
  const seed: Boundary = { epoch: 1, slot: 0, seq: 0, at: 0, chain: chainSeed(logId, nodeDigest) }
  const headers: Array<SegmentHeader> = []
  let before = seed
  for (let slot = 0; slot < segments; slot++) {
    const header: SegmentHeader = {
      kind: "segment",
      codec: "none",
      logId,
      nonce: "2".repeat(32),
      epoch: 1,
      slot,
      firstSeq: before.seq + 1,
      count: perSegment,
      rawBytes: body.length,
      storedBytes: body.length,
      rawCrc: crc,
      storedCrc: crc,
      firstAt: 1_000,
      lastAt: 1_000,
      watermarkSlot: slot,
      watermarkSeq: before.seq,
      chain: before.chain,
      extensions: []
    }
    headers.push(header)
    before = boundaryAfter(header, nodeDigest)
  }
  const fresh = newManifest({ logId, chain: seed.chain }, { nonce: "2".repeat(32), host: "h" }, "3".repeat(32))
  const manifest = encodeManifest({ ...fresh, epoch: 1, live: 1 })
  const gauge = { held: 0, highest: 0, whole: 0 }
  const notFound = (key: string) => new ObjectStoreError({ operation: "get", key, reason: "NotFound", detail: "none" })
  const never = () => Effect.die(new Error("nothing is written"))
  const store = ObjectStore.of({
    id: "generated",
    get: (key, request) =>
      Effect.suspend(() => {
        if (key === manifestKey(prefix)) return Effect.succeed({ body: manifest, tag: "1" })
        const name = parseSlotKey(prefix, key)
        const header = name === undefined || missing.has(name.slot) ? undefined : headers[name.slot]
        if (header === undefined) return Effect.fail(notFound(key))
        const object = encodeSegment(header, body, nodeDigest)
        if (request?.firstBytes !== undefined) {
          return Effect.succeed({ body: object.slice(0, request.firstBytes), tag: "1" })
        }
        gauge.whole++
        gauge.held++
        gauge.highest = Math.max(gauge.highest, gauge.held)
        return Effect.as(Effect.yieldNow, { body: object, tag: "1" })
      }),
    list: (request) =>
      Effect.sync(() => {
        const after = request.page ?? request.startAfter ?? ""
        const first = parseSlotKey(prefix, after)?.slot ?? -1
        const objects = []
        for (let slot = first + 1; slot < segments && objects.length < 1_000; slot++) {
          const key = slotKey(prefix, 1, slot)
          if (!missing.has(slot) && key > after && key.startsWith(request.prefix)) {
            objects.push({ key, sizeBytes: 5_000 })
          }
        }
        const last = objects.at(-1)
        return objects.length === 1_000 && last !== undefined ? { objects, next: last.key } : { objects }
      }),
    create: never,
    replace: never,
    remove: never,
    advice: () => Effect.succeed([])
  })
  return { store, gauge, durable: before.seq }
}

describe("a log of thousands of segments", () => {
  it.effect(
    "is verified with no more of it in memory than is fetched ahead, and progress is told on the way",
    () =>
      Effect.gen(function*() {
        const segments = 3_000
        const { durable, gauge, store } = generated(segments, new Set())
        const seen: Array<WalVerify.VerifyProgress> = []
        const { report } = yield* drive(onStore(
          WalVerify.report({
            ...identity,
            prefetch: 4,
            onProgress: (progress) =>
              Effect.sync(() => {
                // Everything up to here was judged and is not held any more.
                gauge.held = Math.max(0, gauge.whole - progress.segments)
                seen.push(progress)
              })
          }),
          store
        ))
        assert.deepInclude(report, {
          intact: true,
          segments,
          segmentsTotal: segments,
          records: segments * perSegment,
          durable
        })
        assert.strictEqual(gauge.whole, segments)
        assert.isAtLeast(seen.length, segments / 100)
        assert.deepStrictEqual(
          seen.map((one) => one.segments),
          seen.map((one) => one.segments).sort((a, b) => a - b)
        )
        // Between two reports 100 segments are judged; on top only what is fetched ahead.
        assert.isAtMost(gauge.highest, 100 + 3 * 4)
      }),
    60_000
  )

  it.effect(
    "has hundreds of findings: they are told one by one, and only as many are kept as were asked for",
    () =>
      Effect.gen(function*() {
        const missing = new Set(Array.from({ length: 400 }, (_, index) => index * 2 + 1))
        const { store } = generated(801, missing)
        const { findings, report } = yield* drive(onStore(WalVerify.report({ ...identity, maxFindings: 3 }), store))
        assert.deepStrictEqual(findings.map(short), [
          "segment-missing 1/1 5-8",
          "segment-missing 1/3 13-16",
          "segment-missing 1/5 21-24"
        ])
        assert.deepInclude(report, { findings: 400, byKind: { "segment-missing": 400 } })
      }),
    120_000
  )
})
