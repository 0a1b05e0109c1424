/**
 * The store of the simulation in the dress of S3: answers of HTTP, through the code of the S3 package, instead of reasons.
 *
 * Everything but the SDK itself is the real code: the inspection of answers, what they mean, the spelling of tags, the
 * repeats of one attempt, the fall-backs. The SDK lives on promises and sockets, which a walk cannot stop.
 */
import type { ObjectStore } from "../../packages/core/src/store/ObjectStore.ts"
import { type ResolvedS3Options, s3Defaults } from "../../packages/s3/src/S3Options.ts"
import { storeOnClient } from "../../packages/s3/src/StoreOnClient.ts"
import { SeededRandom } from "../../packages/testing/src/simulation/SeededRandom.ts"
import { makeStore as makePlainStore, type SimStoreParts } from "../../packages/testing/src/simulation/SimStore.ts"
import { type Dialect, drawDialect } from "./S3Dialect.ts"
import { S3Server } from "./S3Server.ts"
import { makeSimClient } from "./S3SimClient.ts"
import { credentialsOf, wireOf } from "./S3Wire.ts"

type MakeStore = (parts: SimStoreParts) => ObjectStore["Service"]

/** A store whose dialect is drawn from a number of its own, so that a walk is the same in either dress up to its store. */
const dialectSeed = 2 ** 45

/** The options with which a log is pointed at this store. */
export const optionsOf = (dialect: Dialect): ResolvedS3Options => ({
  ...s3Defaults,
  bucket: "bucket",
  region: "us-east-1",
  endpoint: "http://simulated",
  forcePathStyle: true,
  credentials: undefined,
  encryption: undefined,
  etagQuoting: dialect.etagQuoting
})

/** S3, or what speaks like it, in one dialect. */
export const makeS3Store = (dialect: Dialect): MakeStore => (parts) =>
  storeOnClient(
    makeSimClient({
      exchange: wireOf(parts),
      server: new S3Server(parts, dialect),
      credentials: credentialsOf(parts, dialect.refreshable),
      deadlineMillis: parts.deadlineMillis
    }),
    optionsOf(dialect)
  )

/** Whether the walk of a seed wears S3's dress: every second ten of seeds, so that any step between seeds meets both. */
export const wearsS3 = (seed: number): boolean => Math.floor(seed / 10) % 2 === 1

/** How the processes of a seed's walk reach their store. */
export const storeOfSeed = (seed: number): MakeStore =>
  wearsS3(seed) ? makeS3Store(drawDialect(new SeededRandom(dialectSeed + seed))) : makePlainStore
