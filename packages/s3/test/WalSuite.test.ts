import { make as makeDouble } from "@effect-wal/testing/HttpS3Double"
import { objectPlace, walSuite } from "@effect-wal/testing/WalSuite"
import { Effect } from "effect"
import { make } from "../src/S3ObjectStore.ts"

walSuite("a log on S3, on the HTTP double", {
  place: Effect.map(makeDouble(), ({ s3Options }) => objectPlace(make(s3Options))),
  secondWriter: "takes-over",
  objects: true,
  onDisk: false,
  window: 8
})
