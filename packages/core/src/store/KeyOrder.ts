/**
 * Whether a store lists in the order of keys: most do, some in no order at all
 * (https://docs.aws.amazon.com/AmazonS3/latest/API/API_ListObjectsV2.html, on directory buckets).
 */
import type { ListedObject } from "./ObjectStore.ts"

/** So many keys that never fall are no accident: that is so one time in 40,000 where there is no order. */
const certainKeys = 8

/** Watches one listing. */
export class KeyOrder {
  private last = ""
  private keys = 0
  private isRising = true

  /** The next page. */
  add(objects: ReadonlyArray<ListedObject>): void {
    for (const { key } of objects) {
      this.isRising &&= key >= this.last
      this.last = key
      this.keys++
    }
  }

  /** The listing has passed everything below this key: it is in order, and has come to the key. */
  hasPassed(key: string): boolean {
    return this.isRising && this.keys >= certainKeys && this.last >= key
  }
}
