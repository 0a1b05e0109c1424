/** Configurations: right ones in YAML and JSON, and damaged ones. The first byte says which decoder an input is for. */
import type { FuzzRandom } from "@effect-wal/testing/fuzz/FuzzRandom"
import { mutateBytes } from "@effect-wal/testing/fuzz/MutateBytes"
import { copyNode, type JsonNode, mutateJson, nodeOf, renderJson } from "@effect-wal/testing/fuzz/MutateJson"

/** In the order of the first byte. */
export const configKinds = ["file", "options", "duration", "size", "backend"] as const

/** Stands in every secret of an input: in no output of any kind may it be seen. Hexadecimal, as some secrets must be. */
export const secretMark = "feed5ec4e7ba5eba11"

const literalSecret = secretMark.padEnd(64, "0")

/** The variables that files can name. */
export const environment: Readonly<Record<string, string>> = {
  HOSTNAME: "pod-1",
  NUMBER: "7",
  SIZE: "1MiB",
  BLANK: " ",
  YAML: "a: [b, &c",
  S3_SECRET_KEY: `${secretMark}-"q\\w\n#1`,
  API_TOKEN: `${secretMark}12345678`
}

/** Where a literal secret is put once the tree has its final shape, and only below the name of a secret. */
const place = "@@secret@@"

const secretNames = new Set(["access_key_id", "secret_access_key", "session_token", "sha256"])

const fillSecrets = (node: JsonNode, literal: string): void => {
  if (node.kind === "token") return
  if (node.kind === "list") {
    node.items = node.items.map((item) => filled(item, "x"))
    for (const item of node.items) fillSecrets(item, literal)
    return
  }
  for (const member of node.members) {
    member.value = filled(member.value, secretNames.has(member.name.slice(1, -1)) ? literal : "x")
    fillSecrets(member.value, literal)
  }
}

const filled = (node: JsonNode, text: string): JsonNode =>
  node.kind === "token" && node.text.includes(place)
    ? { kind: "token", text: node.text.replace(place, text) }
    : node

const s3 = {
  bucket: "my-bucket",
  region: "us-east-1",
  endpoint: "http://127.0.0.1:9000",
  path_style: true,
  access_key_id: "AKIA",
  secret_access_key: place,
  encryption: "AES256",
  attempt_deadline: "30s",
  checksums: "when_supported",
  conditional_writes: "required"
}

const backend = {
  type: "object_store",
  node_id: "${HOSTNAME}",
  stream_id: "orders",
  prefix: "a/b",
  segment_tuning: { strategy: "balanced", max_entries: 1_000, max_bytes: "1MiB", flush_interval: "1s", linger: 0 },
  budget: { puts_per_second: 2.5 },
  parallel_put: { workers: 2, pipeline_depth: 1, shutdown_timeout: "30s", hedge: "off" },
  compression: { type: "zstd", level: 3, threshold_bytes: "10kB" },
  cursor: { max_entries: 1_000, interval: "1s", max_ahead: 10_000 },
  manifest: { max_segments: 8, max_delay: "10s" },
  retention: { policy: "age", min_age: "0ms", max_age: "30d", max_bytes: "10GB" },
  retry: { base: "100ms", cap: "5s" },
  sync: "group_commit",
  max_buffered_bytes: "256MiB",
  max_record_bytes: 1_048_576,
  max_segment_bytes: "64MiB",
  prefetch: 16,
  spool: { path: "/spool", max_bytes: "10GB" }
}

const local = { type: "local", local: { path: "./data", max_file_bytes: "64MiB" }, sync: "per_entry" }

const server = {
  host: "127.0.0.1",
  port: 8_180,
  tokens: [
    { id: "app", sha256: place, scopes: ["read", "write"], streams: ["orders"] },
    { id: "ops", env: "API_TOKEN", scopes: ["admin"] }
  ],
  tls: { cert_file: "/cert.pem", key_file: "/key.pem" },
  limits: { max_body_bytes: "32MiB", ack_timeout: "30s", max_page_records: 100 },
  shutdown_timeout: "25s"
}

const file = {
  server,
  streams: [
    { id: "orders", durability: { enabled: true, backend: { ...backend, s3 } } },
    { id: "notes", durability: { backend: { ...local, stream_id: "notes" } } },
    { durability: { path: "./wal", sync: "periodic" } }
  ]
}

const options = {
  nodeId: "node",
  streamId: "orders",
  prefix: "a/b",
  preset: "balanced",
  segment: { maxEntries: 100, maxBytes: "1MiB", flushInterval: "1s", linger: 0 },
  parallelPut: { workers: 2, pipelineDepth: 2, shutdownTimeout: "30s" },
  compression: { type: "zstd", level: 3, thresholdBytes: 1_024 },
  retention: { policy: "committed", minAge: "1h" },
  producers: { max: 100, ttl: "1d" },
  sync: "periodic",
  conditionalWrites: "required",
  maxBufferedBytes: "256MiB",
  openTimeout: 60_000,
  host: "h"
}

/** Texts that a variable, a size, a duration or YAML itself can be taken for. */
const scalars: ReadonlyArray<string> = [
  "${S3_SECRET_KEY}",
  "${API_TOKEN}",
  "a${API_TOKEN}b",
  "${NUMBER}",
  "${SIZE}",
  "${YAML}",
  "${BLANK}",
  "${MISSING}",
  "${MISSING:-1s}",
  "${MISSING:-${API_TOKEN}}",
  "${",
  "$${NUMBER}",
  "1.5h",
  "30 s",
  "-1s",
  "1e3",
  "99999999999999999999d",
  "0.0000001ms",
  "10MiB",
  "1.5B",
  "-1MB",
  "0x10",
  "~",
  "2026-01-01",
  "http://user:password@host"
]

const leaves = (node: JsonNode): ReadonlyArray<JsonNode> =>
  node.kind === "token"
    ? [node]
    : (node.kind === "list" ? node.items : node.members.map(({ value }) => value)).flatMap(leaves)

const mutateTree = (random: FuzzRandom, node: JsonNode): void => {
  if (random.oneIn(3)) {
    const leaf = random.pick(leaves(node))
    if (leaf.kind === "token") leaf.text = JSON.stringify(random.pick(scalars))
  }
  if (random.oneIn(2)) mutateJson(random, node)
}

/** What others need is mostly kept. Blocks that are left out have their defaults; small files are also quicker to check. */
const thinned = (random: FuzzRandom, node: JsonNode): JsonNode => {
  const copy = copyNode(node)
  const walk = (part: JsonNode, depth: number): void => {
    if (part.kind === "token") return
    if (part.kind === "list") {
      part.items = part.items.filter(({ kind }) => kind === "token" || !random.oneIn(3))
      for (const item of part.items) walk(item, depth + 1)
      return
    }
    part.members = part.members.filter(({ name }) =>
      depth < 2 ||
      /"(id|durability|backend|node_id|stream_id|type|bucket|s3|scopes|sha256|env|cert_file|key_file|access_key_id|secret_access_key|path|local|policy|compression|retention)"/
        .test(name) ||
      random.oneIn(3)
    )
    for (const { value } of part.members) walk(value, depth + 1)
  }
  walk(copy, 0)
  return copy
}

/** Block style, where tokens and nested values stand as they are. */
const renderYaml = (node: JsonNode, indent = ""): string => {
  if (node.kind === "token") return node.text
  const inside = `${indent}  `
  const rows = node.kind === "list"
    ? node.items.map((item) => `${indent}- ${renderYaml(item, inside).trimStart()}`)
    : node.members.map(({ name, value }) =>
      `${indent}${/^"[a-z_]+"$/.test(name) ? name.slice(1, -1) : name}:${
        value.kind === "token" ? ` ${value.text}` : `\n${renderYaml(value, inside)}`
      }`
    )
  return rows.length === 0 ? node.kind === "list" ? `${indent}[]` : `${indent}{}` : rows.join("\n")
}

const yamlPieces = [
  "\n",
  "\t",
  "&a ",
  "*a",
  "<<: *a\n",
  "- ",
  "? ",
  ": ",
  "!!binary ",
  "!x ",
  "|\n",
  ">-\n",
  "# ",
  "---\n",
  "...\n",
  "%YAML 1.1\n",
  "{",
  "[",
  "\"",
  "'",
  "<<",
  "\u2028",
  "\u0000"
]

const mutateYaml = (random: FuzzRandom, text: string): string => {
  let mutated = text
  for (let times = random.between(1, 3); times > 0; times--) {
    const at = random.below(mutated.length + 1)
    mutated = mutated.slice(0, at) + random.pick(yamlPieces) + mutated.slice(at + random.below(3))
  }
  return mutated
}

const parsedFile = nodeOf(file)

const fileText = (random: FuzzRandom): string => {
  const node = thinned(random, parsedFile)
  mutateTree(random, node)
  const isText = random.oneIn(4)
  fillSecrets(node, isText ? "x" : literalSecret)
  const text = random.oneIn(3) ? renderJson(node) : renderYaml(node)
  return isText ? mutateYaml(random, text) : text
}

const treeText = (random: FuzzRandom, value: unknown): string => {
  const node = thinned(random, nodeOf({ wrapped: value }))
  mutateTree(random, node)
  fillSecrets(node, literalSecret)
  return renderJson(node)
}

const digits = ["0", "1", "1.5", "-1", "999999999999999", "9999999999999999", "0.000001", "1e3", "", " 1", "٣"]
const units = ["ms", "s", "m", "h", "d", "", "B", "kB", "MB", "MiB", "TiB", "S", " s", "ns"]

/** One input. */
export const makeConfig = (random: FuzzRandom): Uint8Array => {
  // A file costs a hundred times as much as a size.
  const kind = random.pick([0, 0, 1, 4, 2, 2, 3, 3])
  const makers = [
    fileText,
    (each: FuzzRandom) => treeText(each, options),
    (each: FuzzRandom) => each.pick(digits) + each.pick(units),
    (each: FuzzRandom) => each.pick(digits) + each.pick(units),
    (each: FuzzRandom) => treeText(each, { ...backend, s3 })
  ]
  const text = Buffer.from((makers[kind] ?? fileText)(random))
  // A byte that goes can put a secret where nobody can tell it from a name: literal ones are in trees only.
  const isTree = kind === 0 || kind === 1 || kind === 4
  return Buffer.concat([Uint8Array.of(kind), !isTree && random.oneIn(3) ? mutateBytes(random, text) : text])
}
