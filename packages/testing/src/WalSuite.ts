/**
 * What every backend of the log must do, as one suite that is run against each of them: in memory, in a directory, on the
 * local disk, on S3.
 *
 * Each test opens logs on a fresh place of the backend, as processes that end in order or crash, with a clock of its own:
 * time is the test's, stores answer in theirs. Titles name the cases that a test holds.
 */
import { describe } from "@effect/vitest"
import { appendTests } from "./walsuite/AppendTests.ts"
import { compressionTests } from "./walsuite/CompressionTests.ts"
import { cursorTests } from "./walsuite/CursorTests.ts"
import { damageTests } from "./walsuite/DamageTests.ts"
import { manifestTests } from "./walsuite/ManifestTests.ts"
import { outageAndCloseTests } from "./walsuite/OutageTests.ts"
import { randomTests } from "./walsuite/RandomTests.ts"
import { readTests } from "./walsuite/ReadTests.ts"
import { restartTests } from "./walsuite/RestartTests.ts"
import { retentionTests } from "./walsuite/RetentionTests.ts"
import { makeSuite } from "./walsuite/Suite.ts"
import type { WalBackend } from "./walsuite/SuiteBackend.ts"
import { writerTests } from "./walsuite/WriterTests.ts"

export { emptied, flipped, objectPlace } from "./walsuite/ObjectScar.ts"
export type { Scar, TaggedFailure, WalBackend, WalPlace } from "./walsuite/SuiteBackend.ts"

/** Registers the suite for a backend. What does not apply to it, by what it says of itself, is not registered. */
export const walSuite = (name: string, backend: WalBackend): void => {
  describe(name, () => {
    const suite = makeSuite(backend)
    appendTests(suite)
    restartTests(suite)
    cursorTests(suite)
    readTests(suite)
    retentionTests(suite)
    compressionTests(suite)
    damageTests(suite)
    manifestTests(suite)
    writerTests(suite)
    outageAndCloseTests(suite)
    randomTests(suite)
  })
}
