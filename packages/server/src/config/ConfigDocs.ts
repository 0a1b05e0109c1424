/**
 * `docs/configuration.md`, written from the Schema, so that it cannot say anything else than what is checked.
 */
import { listFields, type LocatedField } from "@effect-wal/core/config/DecodeTree"
import { formatDuration } from "@effect-wal/core/config/DurationText"
import type { FieldKind } from "@effect-wal/core/config/Field"
import { presetNames, presets } from "@effect-wal/core/config/Presets"
import { FileBlock } from "./ServerSchema.ts"

const kindText: Readonly<Record<FieldKind, string>> = {
  integer: "whole number",
  number: "number",
  size: "size in bytes",
  duration: "duration with unit",
  choice: "word",
  boolean: "switch",
  text: "text",
  url: "URL",
  secret: "secret text",
  list: "list",
  refused: ""
}

const introduction =
  `<!-- Written by scripts/write-config-docs.ts from the Schema; a test fails when it is edited by hand. -->

# Configuration

\`effect-wal serve --config FILE\`, or the variable \`EFFECT_WAL_CONFIG\`, names a YAML or JSON file. Without one,
a single stream \`main\` is kept on this machine's disk, in \`./data\`. Everything that is wrong is reported at once, with path,
value, rule and line; no request is made, and the exit code is 2. \`effect-wal config print\` shows every value
that is in force and where it comes from. From a checkout, \`npm start -- config print\`.

\`\`\`yaml
server:
  port: 8180
streams:
  - durability:
      backend:
        type: object_store
        node_id: "\${HOSTNAME}"
        stream_id: orders
        s3:
          bucket: my-bucket
          region: us-east-1
\`\`\`

- **On this machine's disk** a stream needs no more than \`durability: { path: ./data/wal }\`, short for
  \`backend: { type: local, local: { path: ./data/wal } }\`.
- **Durations** need a unit: \`500ms\`, \`1s\`, \`1.5s\`, \`2m\`, \`1h\`, \`30d\`.
  A number alone is an error, except \`0\` where 0 is allowed.
- **Sizes**: kB, MB, GB, TB are powers of 1,000; KiB, MiB, GiB, TiB are powers of 1,024; a whole number alone is bytes.
- **Variables**: \`\${VAR}\` and \`\${VAR:-default}\` in values. One that is unset or blank is an error. \`$\${\` is a literal
  \`\${\`. What is put in is text, also if it looks like YAML; where a number or a switch is wanted, text of that
  kind is taken for it. Of a variable whose name holds SECRET, TOKEN, PASSWORD, KEY or CREDENTIAL, reports and
  \`config print\` show the name and never the value.
- **Text** that YAML reads as something else needs quotes: \`node_id: "1"\`, \`stream_id: "true"\`.
- **Unknown and doubled keys** are errors.
- **The library** takes the fields of \`backend\` in camel case (\`parallelPut.workers\`), with \`preset\` for
  \`segment_tuning.strategy\` and \`segment\` for the rest of \`segment_tuning\`; the store is a Layer there.
`

const cell = (text: string): string => text.replaceAll("|", "\\|").replaceAll("\n", " ")

const row = (cells: ReadonlyArray<string>): string => `| ${cells.map(cell).join(" | ")} |`

const table = (head: ReadonlyArray<string>, rows: ReadonlyArray<ReadonlyArray<string>>): string =>
  [row(head), row(head.map(() => "---")), ...rows.map(row)].join("\n")

const placeText = (path: ReadonlyArray<string>): string =>
  path.reduce((text, part) => part === "*" ? `${text}[]` : text === "" ? part : `${text}.${part}`, "")

const presetSection = (): string =>
  `## Presets

\`segment_tuning.strategy\` sets four fields, each of which can be overridden.

` + table(
    ["preset", "max_entries", "max_bytes", "flush_interval", "linger"],
    presetNames.map((name) => {
      const preset = presets[name]
      return [
        `\`${name}\``,
        String(preset.maxEntries),
        String(preset.maxBytes),
        formatDuration(preset.flushInterval),
        formatDuration(preset.linger)
      ]
    })
  )

const rules = `## Rules between fields

- \`type: object_store\` needs \`node_id\`, \`stream_id\` and exactly one of \`s3\` (with \`bucket\`) and
  \`directory\` (with \`path\`); \`spool\` needs \`path\`.
- \`type: local\` needs \`local.path\` (or \`durability.path\`, the older spelling), one worker with depth 1, and
  neither \`s3\`, \`directory\` nor \`spool\`. Its defaults differ in \`linger\`, \`manifest.max_segments\` and the ids.
- \`sync: per_entry\` needs \`type: local\`, and \`max_entries\` must not be given beside it: it is 1.
- A field of \`segment\` (the older spelling) must not be given in \`segment_tuning\` too; \`sync\` stands in
  \`durability\` or in \`backend\`, not in both.
- \`compression.level\` must fit the type, and \`none\` has no level.
- \`max_buffered_bytes\` is at least 2 × \`max_bytes\` + \`max_record_bytes\`; \`max_segment_bytes\` is at least
  twice either.
- \`budget\` has exactly one of its keys, and goes neither with \`type: local\` nor with \`sync: periodic\`.
- \`retention.max_age\` and \`max_bytes\` belong to \`policy: age\`, which needs one of them.
- \`conditional_writes: single_writer\` needs \`workers: 1\`, \`pipeline_depth: 1\` and \`policy: keep\`.
- Access key and secret go together, each from a value or from a file; a session token needs both.
- Ids of streams and tokens are unique; no two streams have the same \`node_id\` and \`stream_id\`, wherever their logs are:
  metrics could not tell them apart.
- A \`host\` that is not loopback needs \`tokens\`, or the flag \`--insecure\`.
- \`drain_delay\` is shorter than \`shutdown_timeout\`; \`max_in_flight_body_bytes\` is at least \`max_body_bytes\`.
`

const fieldRow = ({ doc, path }: LocatedField): ReadonlyArray<string> => [
  `\`${path.at(-1) ?? ""}\``,
  kindText[doc.kind],
  doc.range.replace(/^must be /, ""),
  doc.default ?? "–",
  doc.note
]

/** The text of `docs/configuration.md`. */
export const renderConfigDocs = (): string => {
  const fields = listFields(FileBlock.ast)
  const blocks = Map.groupBy(
    fields.filter((field) => field.doc.kind !== "refused"),
    (field) => placeText(field.path.slice(0, -1))
  )
  const sections = [...blocks].map(([place, members]) =>
    `## \`${place}\`\n\n${
      table(["key", "kind and unit", "range", "default", "meaning and trade-off"], members.map(fieldRow))
    }`
  )
  const refusals = fields.filter((field) => field.doc.kind === "refused").map((
    field
  ) => [`\`${placeText(field.path)}\``, field.doc.note])
  return `${
    [
      introduction,
      ...sections,
      presetSection(),
      rules.trimEnd(),
      `## Keys that are refused by name\n\n${table(["key", "why"], refusals)}`
    ].join("\n\n").replaceAll("\n\n\n", "\n\n")
  }\n`
}
