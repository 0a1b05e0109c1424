import { assert, describe, it } from "vitest"
import { GroupCommit } from "../src/support/GroupCommit.ts"

const record = (value: number): Uint8Array => Uint8Array.of(value)

/** Writes that end when they are told to, and what they were given. */
const gatedWrites = () => {
  const written: Array<ReadonlyArray<number>> = []
  const ends: Array<{ readonly resolve: () => void; readonly reject: (cause: Error) => void }> = []
  const group = new GroupCommit((payloads) => {
    written.push(payloads.map(([value = 0]) => value))
    return new Promise<void>((resolve, reject) => ends.push({ resolve, reject }))
  })
  return { group, written, end: () => ends.shift() }
}

describe("a group commit", () => {
  it("writes at once, and together what comes meanwhile", async () => {
    const { end, group, written } = gatedWrites()
    const first = group.append([record(1)])
    const others = [group.append([record(2), record(3)]), group.append([record(4)])]
    assert.deepStrictEqual(written, [[1]])
    end()?.resolve()
    await first
    // Who was answered comes again, and shares the next write.
    const again = group.append([record(5)])
    await Promise.resolve()
    assert.deepStrictEqual(written, [[1], [2, 3, 4, 5]])
    end()?.resolve()
    await Promise.all([...others, again])
  })

  it("tells all that share a write of its failure, and goes on", async () => {
    const { end, group, written } = gatedWrites()
    const failed = group.append([record(1)])
    const next = group.append([record(2)])
    end()?.reject(new Error("the disk is gone"))
    const told = await failed.then(() => "answered", (cause: unknown) => String(cause))
    assert.strictEqual(told, "Error: the disk is gone")
    end()?.resolve()
    await next
    assert.deepStrictEqual(written, [[1], [2]])
  })
})
