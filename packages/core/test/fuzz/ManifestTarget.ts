/** The decoders of the manifest and of archives of ends under fuzz, and the transitions that a decoded manifest goes through. */
import type { FuzzRandom } from "@effect-wal/testing/fuzz/FuzzRandom"
import { finding, type FuzzFinding, type FuzzOutcome, type FuzzTarget } from "@effect-wal/testing/fuzz/FuzzTarget"
import { mutateBytes } from "@effect-wal/testing/fuzz/MutateBytes"
import { type JsonNode, mutateJson, nodeOf, renderJson } from "@effect-wal/testing/fuzz/MutateJson"
import { Duration, Effect, Result } from "effect"
import { isDeepStrictEqual } from "node:util"
import { allEnds } from "../../src/epoch/EndsArchive.ts"
import { compareBoundaries } from "../../src/format/Boundary.ts"
import { encodeText } from "../../src/format/Bytes.ts"
import { highestMark, lowestMark } from "../../src/format/CursorSet.ts"
import { decodeManifest, encodeManifest, type Manifest } from "../../src/format/ManifestCodec.ts"
import { activate, advance, claim, endsToArchive, liveStart, recordedTail } from "../../src/manifest/Manifest.ts"
import { nodeDigest } from "../../src/node/NodeDigest.ts"
import { ObjectStore } from "../../src/store/ObjectStore.ts"
import { ObjectStoreError } from "../../src/store/ObjectStoreError.ts"
import { boundary, sampleManifest } from "../format/Samples.ts"

const key = "n/s/manifest.json"
const archiveKey = `n/s/epochs/0000000001-${"0".repeat(32)}.json`

const spool = (id: string) => ({ id: id.repeat(32), host: "host", path: `/spools/${id}` })

const fullManifest = {
  format: "effect-wal manifest",
  ...sampleManifest({
    ends_archive: { key: archiveKey, through: 1 },
    trim: boundary(1, 3, 30),
    origins: { ["a".repeat(32)]: { epoch: 2, slot: 9 } },
    spool: spool("b"),
    spools_left: [spool("c"), spool("d")],
    producers: [{ id: "p", calls: [[1, 3, 4, 2, 1_700_000_000_000.5, 77]] }]
  }),
  unknown: undefined,
  later: { field: [1, "two", null] }
}

const archive = {
  format: "effect-wal ends",
  version: 1,
  ends: [boundary(1, 5, 50), boundary(2, 2, 70)],
  previous: { key: archiveKey, through: 1 }
}

/** A part that is there more often than anything in a log ever is. */
const crowd = (random: FuzzRandom, node: JsonNode): void => {
  if (node.kind !== "object") return
  const part = random.pick(node.members).value
  const times = random.pick([300, 2_000, 150_000])
  if (part.kind === "list") part.items = new Array<JsonNode>(times).fill(nodeOf(boundary(2, 4, 40)))
  if (part.kind === "object") {
    for (let nth = 0; nth < times; nth++) part.members.push({ name: `"n${nth}"`, value: { kind: "token", text: "1" } })
    const marks = part.members.find(({ name }) => name === "\"marks\"")?.value
    if (marks?.kind !== "object") return
    marks.members = [...marks.members, ...part.members.splice(2)]
  }
}

/** The first byte says what it is: an even one a manifest, an odd one the archive that a manifest leads to. */
const make = (random: FuzzRandom): Uint8Array => {
  const kind = random.oneIn(4) ? 1 : 0
  const node = nodeOf(kind === 0 ? fullManifest : archive)
  if (random.oneIn(5_000)) crowd(random, node)
  else if (!random.oneIn(8)) mutateJson(random, node)
  const mark = random.oneIn(20) ? "\uFEFF" : ""
  const text = encodeText(mark + renderJson(node))
  const body = random.oneIn(5) ? mutateBytes(random, text) : text
  return prefixed(kind, body)
}

const prefixed = (kind: number, body: Uint8Array): Uint8Array => {
  const input = new Uint8Array(1 + body.length)
  input[0] = kind
  input.set(body, 1)
  return input
}

const rule = (holds: boolean, problem: string): Effect.Effect<void, FuzzFinding> =>
  holds ? Effect.void : Effect.fail(finding(problem))

/** JSON does not tell -0 from 0, and must not be the reason why a number that it can't write counts as kept. */
const asText = (manifest: Manifest): string =>
  JSON.stringify(
    manifest,
    (_, value: unknown) => typeof value === "number" && !Number.isFinite(value) ? String(value) : value
  )

const isSame = (left: Manifest, right: Manifest): boolean =>
  isDeepStrictEqual(left, right) || asText(left) === asText(right)

const writer = { nonce: "1".repeat(32), host: "host" }
const commitId = "2".repeat(32)

/** What an opening and a commit make of it: none of it throws, all of it can be written and read. */
const checkTransitions = Effect.fnUntraced(function*(manifest: Manifest) {
  lowestMark(manifest.cursors)
  highestMark(manifest.cursors)
  endsToArchive(manifest)
  liveStart(manifest)
  recordedTail(manifest)
  const claimed = claim(manifest, writer, commitId)
  const activated = activate(claimed, {
    ended: manifest.checkpoint,
    cursors: manifest.cursors,
    window: 4,
    origins: manifest.origins ?? {},
    spool: { id: "9".repeat(32), host: "host", path: "/spools/9" },
    commitId
  })
  const advanced = advance(activated, { ...activated, index: manifest.index, origins: {} }, commitId)
  if (claimed.epoch > 9_999_999_999) return
  const read = yield* Effect.result(decodeManifest(key, encodeManifest(advanced)))
  yield* rule(Result.isSuccess(read), "a manifest that was claimed, activated and advanced does not decode")
})

const checkManifest = Effect.fnUntraced(function*(bytes: Uint8Array): Effect.fn.Return<FuzzOutcome, FuzzFinding> {
  const read = yield* Effect.result(decodeManifest(key, bytes))
  if (Result.isFailure(read)) {
    const error = read.failure
    const reason = error._tag === "ManifestTooNew" ? `version ${error.found}` : error.reason
    yield* rule(reason.length > 0 && reason.length < 2_000, `the reason has ${reason.length} characters`)
    return { refused: error._tag, reason: reason.slice(0, 60) }
  }
  const manifest = read.success
  const again = yield* Effect.result(decodeManifest(key, encodeManifest(manifest)))
  yield* rule(
    Result.isSuccess(again) && isSame(again.success, manifest),
    "a manifest that was encoded again is another one"
  )
  yield* checkTransitions(manifest)
  return {}
})

const notFound = (operation: "get", name: string) =>
  new ObjectStoreError({ operation, key: name, reason: "NotFound", detail: "no" })

/** A store that has the archive once: what that leads to is not there. */
const storeOf = (body: Uint8Array): ObjectStore["Service"] => {
  let asked = 0
  const no = (name: string) => Effect.fail(notFound("get", name))
  return {
    id: "fuzz",
    get: (name) => asked++ === 0 ? Effect.succeed({ body, tag: "1" }) : no(name),
    create: no,
    replace: no,
    list: () => no(""),
    remove: () => no(""),
    advice: () => Effect.succeed([])
  }
}

const manifestBefore = sampleManifest({ ends_archive: { key: archiveKey, through: 2 }, trim: boundary(1, 3, 30) })

const checkArchive = Effect.fnUntraced(function*(body: Uint8Array): Effect.fn.Return<FuzzOutcome, FuzzFinding> {
  const context = {
    prefix: "n/s/",
    digest: nodeDigest,
    backoff: { base: Duration.zero, cap: Duration.zero },
    attempts: 1
  }
  const read = yield* Effect.result(
    Effect.provideService(allEnds(context, manifestBefore), ObjectStore, storeOf(body))
  )
  if (Result.isFailure(read)) {
    const error = read.failure
    yield* rule(error._tag === "ManifestCorrupt", `${error._tag} for an archive that does not decode`)
    const reason = error._tag === "ManifestCorrupt" ? error.reason : error.message
    return { refused: error._tag, reason: `archive: ${reason.slice(0, 60)}` }
  }
  const ends = read.success
  yield* rule(
    ends.every((end, index) => index === 0 || compareBoundaries(ends[index - 1] ?? end, end) <= 0),
    "the ends do not ascend"
  )
  return {}
})

/** Manifests, and archives of ends. */
export const manifestTarget: FuzzTarget = {
  name: "manifest",
  make,
  check: (input) => ((input[0] ?? 0) & 1) === 0 ? checkManifest(input.subarray(1)) : checkArchive(input.subarray(1))
}
