import { objectStoreSuite } from "@effect-wal/testing/ObjectStoreSuite"
import { storeOnDouble } from "./support.ts"

objectStoreSuite("S3ObjectStore on the HTTP double", storeOnDouble())

objectStoreSuite(
  "S3ObjectStore on the HTTP double as Ceph 18: unquoted tags only, 412 for a missing key",
  storeOnDouble({ ifMatch: "unquoted", ifMatchMissing: 412, pageSize: 100 }),
  { manyKeys: 250, raceRounds: 1, largeBytes: 1 << 20 }
)

objectStoreSuite(
  "S3ObjectStore on the HTTP double that knows no ranges, no batch deletes and no checksums",
  storeOnDouble(
    { ignoresRanges: true, refusedHeaders: ["x-amz-checksum-crc32", "x-amz-sdk-checksum-algorithm"] },
    { checksums: "when_required" }
  ),
  { manyKeys: 250, raceRounds: 1, largeBytes: 1 << 20 }
)
