import { flipped, type Scar, walSuite } from "@effect-wal/testing/WalSuite"
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import * as fs from "node:fs/promises"
import { join } from "node:path"
import * as LocalObjectStore from "../../src/node/LocalObjectStore.ts"
import { freshDirectory } from "../node/fixtures/disks.ts"

/** Damages every copy of a segment in the journal's files. */
const scarFiles = async (path: string, scar: Scar) => {
  const damaged = flipped(scar)
  let found = 0
  for (const name of await fs.readdir(path, { recursive: true })) {
    if (!name.endsWith(".journal")) continue
    const content = await fs.readFile(join(path, name))
    for (let at = content.indexOf(scar.body); at >= 0; at = content.indexOf(scar.body, at + 1)) {
      content.set(damaged, at)
      found++
    }
    await fs.writeFile(join(path, name), content)
  }
  assert.isAbove(found, 0, `${scar.key} is in no file of the journal`)
}

walSuite("a log on the local disk", {
  place: Effect.map(freshDirectory, (path) => ({
    connect: LocalObjectStore.make({ path, prefix: "node/log/" }),
    scar: (scar) => Effect.promise(() => scarFiles(path, scar))
  })),
  secondWriter: "is-refused",
  objects: false,
  onDisk: true,
  window: 1
})
