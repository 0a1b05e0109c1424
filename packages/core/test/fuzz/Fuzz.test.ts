import { fuzzSuite, type KeptInput } from "@effect-wal/testing/fuzz/FuzzSuite"
import { readFileSync } from "node:fs"
import { journalTarget } from "./JournalTarget.ts"
import { manifestTarget } from "./ManifestTarget.ts"
import { segmentTarget } from "./SegmentTarget.ts"

const kept: ReadonlyArray<KeptInput> = JSON.parse(readFileSync(new URL("kept.json", import.meta.url), "utf8"))

fuzzSuite(segmentTarget, {
  inputs: 2_000,
  kept,
  reaches: [
    "the header checksum does not match",
    "header length # is out of range",
    "an extension is longer than the header",
    "SegmentTooNew: critical extension",
    "SegmentTooNew: format version",
    "a number is beyond",
    "the limit is #",
    "the unpacked body's checksum does not match",
    "zstd: unpacks to # bytes",
    "zstd: Data corruption",
    "lz#: unpacks to at least",
    "lz#: has a block",
    "a column is longer than the body",
    "a column is not UTF",
    "a producer id is not printable",
    "the calls do not fit",
    "headers of a record do not decode",
    "the times fall",
    "a time is not finite",
    "a payload is longer than the body",
    "bytes follow the last payload"
  ]
})

fuzzSuite(manifestTarget, {
  inputs: 2_000,
  kept,
  reaches: [
    "it is not JSON",
    "it is not UTF-#",
    "Missing key",
    "Expected an integer",
    "a string matching",
    "ManifestTooNew",
    "an unknown field is nested deeper",
    "an unknown field holds a number",
    "cursor default is missing",
    "archive: Missing key",
    "the manifest names it and it is not there"
  ]
})

fuzzSuite(journalTarget, {
  inputs: 1_500,
  kept,
  reaches: ["no file has a header that can be read", "belongs to another journal"]
})
