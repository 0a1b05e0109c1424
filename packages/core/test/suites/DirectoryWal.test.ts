import { objectPlace, walSuite } from "@effect-wal/testing/WalSuite"
import { Effect } from "effect"
import * as DirectoryObjectStore from "../../src/node/DirectoryObjectStore.ts"
import { freshDirectory } from "../node/fixtures/disks.ts"

walSuite("a log in a directory", {
  place: Effect.map(freshDirectory, (path) => objectPlace(DirectoryObjectStore.make({ path }))),
  secondWriter: "takes-over",
  objects: true,
  onDisk: true,
  window: 8
})
