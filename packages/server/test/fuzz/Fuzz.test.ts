import { fuzzSuite, type KeptInput } from "@effect-wal/testing/fuzz/FuzzSuite"
import { readFileSync } from "node:fs"
import { bodyTarget } from "./BodyTarget.ts"
import { configTarget } from "./ConfigTarget.ts"

const kept: ReadonlyArray<KeptInput> = JSON.parse(readFileSync(new URL("kept.json", import.meta.url), "utf8"))

fuzzSuite(bodyTarget, {
  inputs: 2_000,
  kept,
  reaches: [
    "not JSON at byte # of the line",
    "the bytes are not UTF-#",
    "must be an object with the one field records",
    "stands there twice",
    "is not a field of a record",
    "must be an object of strings, each name once",
    "too_many_records",
    "invalid_encoding: the body is not whole gzip data",
    "body_too_large",
    "malformed_request: the connection ended",
    "Idempotency-Key: must be given once",
    "not_acceptable",
    "Last-Event-ID"
  ]
})

fuzzSuite(configTarget, {
  inputs: 800,
  kept,
  reaches: [
    "is not valid YAML",
    "is not a known key",
    "is given twice",
    "needs the variable",
    "has a ${",
    "must be a block of keys",
    "duration: must be a number and one of",
    "size: must be whole bytes"
  ]
})
