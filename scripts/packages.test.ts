/**
 * The packages as they are published: built, packed, checked by publint and attw, and installed into an empty project
 * outside of the workspace, where they are used. Needs npm, and the registry or npm's cache for what they depend on.
 */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { execFileSync } from "node:child_process"
import { globSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { publint } from "publint"
import { build } from "./packages/Build.ts"
import { bundleSize } from "./packages/Bundle.ts"
import { walkModules } from "./packages/ModuleGraph.ts"
import { pack, readPacked, type Tarball } from "./packages/Pack.ts"
import { installProject, type Project } from "./packages/Project.ts"
import { closedFolders, entriesIn, packageNames, publishedExports } from "./packages/PublishedExports.ts"

const root = join(import.meta.dirname, "..")

/** Compiling and installing take long on a small machine; nothing is timed. */
const hangMillis = 600_000

const manifestOf = (name: string) => JSON.parse(readFileSync(join(root, "packages", name, "package.json"), "utf8"))

describe("what packages export", () => {
  it("is written by scripts/write-exports.ts: their index, and what the other packages need", () => {
    for (const name of packageNames) {
      assert.deepStrictEqual(manifestOf(name).publishConfig.exports, publishedExports(root, name), name)
    }
  })

  it("holds no folder of core that is closed, neither published nor in the workspace", () => {
    const { exports, publishConfig } = manifestOf("core")
    for (const folder of closedFolders) {
      assert.isNull(exports[`./${folder}/*`], folder)
      const open = Object.keys(publishConfig.exports).filter((entry) => entry.startsWith(`./${folder}/`))
      assert.deepStrictEqual(open, [])
    }
  })

  it("decides about every folder of core: closed, or some of its modules are published", () => {
    const published = Object.keys(manifestOf("core").publishConfig.exports)
    const folders = readdirSync(join(root, "packages/core/src"), { withFileTypes: true })
      .filter((entry) => entry.isDirectory() && !closedFolders.some((closed) => closed === entry.name))
      .map(({ name }) => name)
    // Counted by a benchmark of this repository only.
    const inside = folders.filter((folder) => !published.some((entry) => entry.startsWith(`./${folder}`)))
    assert.deepStrictEqual(inside, ["observe"])
  })

  it("is enough for every example and every page of the documentation", () => {
    const files = globSync(["examples/*/*.ts", "docs/*.md", "docs/*/*.md", "README.md", "packages/*/README.md"], {
      cwd: root
    })
    assert.isAbove(files.length, 30)
    for (const name of packageNames) {
      const published = Object.keys(publishedExports(root, name))
      for (const file of files) {
        const used = entriesIn(readFileSync(join(root, file), "utf8"), name)
        for (const entry of used) assert.include(published, entry, `${file} imports of ${name}`)
      }
    }
  })
})

describe("changesets", () => {
  it("keep all packages at one version, and publish nothing else", () => {
    const config = JSON.parse(readFileSync(join(root, ".changeset/config.json"), "utf8"))
    assert.sameMembers(config.fixed[0], packageNames.map((name) => manifestOf(name).name))
    assert.deepStrictEqual(new Set(packageNames.map((name) => manifestOf(name).version)).size, 1)
    assert.strictEqual(config.access, "public")
    assert.isFalse(config.privatePackages.version)
  })

  it("have a page for people, with the version that is next", () => {
    const changelog = readFileSync(join(root, "CHANGELOG.md"), "utf8")
    assert.match(changelog, new RegExp(`^## ${manifestOf("core").version}( |$)`, "m"))
  })
})

/** A program of a user; what it prints is compared. */
const useLog = `
import { Wal } from "@effect-wal/core/Wal"
import { WalTest } from "@effect-wal/testing/WalTest"
import { Effect, Logger, Stream } from "effect"

const program = Effect.gen(function*() {
  const wal = yield* Wal
  const { durable, last } = yield* wal.append(["a", "b"].map((text) => ({ payload: new TextEncoder().encode(text) })))
  yield* durable
  const seen: Array<string> = []
  yield* wal.replay({ until: "durable-end" }).pipe(Stream.runForEach((record) => {
    seen.push(new TextDecoder().decode(record.payload))
    return wal.ack(record.seq)
  }))
  return \`\${last} \${seen.join()}\`
})

const local = Wal.layerLocal({ path: "./data", nodeId: "node-0", streamId: "orders" })
for (const log of [local, WalTest.layer(), local]) {
  const quiet = program.pipe(Effect.provide(log), Effect.provide(Logger.layer([])))
  console.log(await Effect.runPromise(quiet))
}
`

const useClient = `
import { WalClient } from "@effect-wal/server/client"

console.log(Object.keys(WalClient).length > 0)
`

const typesOnly = `
import { Wal } from "@effect-wal/core/Wal"
import { S3ObjectStore } from "@effect-wal/s3"
import { Layer, Redacted } from "effect"

export const orders: Layer.Layer<Wal, unknown> = Wal.layer({ nodeId: "node-0", streamId: "orders" }).pipe(
  Layer.provide(S3ObjectStore.layer({
    bucket: "b",
    endpoint: "http://127.0.0.1:1",
    credentials: { accessKeyId: "a", secretAccessKey: Redacted.make("s") }
  }))
)
// @ts-expect-error: a misspelled option is found
export const wrong = S3ObjectStore.layer({ buckets: "b" })
`

describe("the packages", () => {
  let folder = ""
  let tarballs: ReadonlyArray<Tarball> = []
  let project: Project | undefined
  const used = (): Project => {
    if (project === undefined) throw new Error("nothing is installed")
    return project
  }

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), "effect-wal-tarballs-"))
    build(root)
    tarballs = pack(root, folder)
    project = installProject(root, tarballs.map(({ file }) => file))
  }, hangMillis)
  afterAll(() => {
    project?.remove()
    rmSync(folder, { recursive: true, force: true })
  })

  it("hold licence, readme, sources and what was built of them, and nothing of tests", () => {
    for (const { files, name } of tarballs) {
      for (const file of ["LICENSE", "README.md", "package.json", "dist/index.js", "dist/index.d.ts", "src/index.ts"]) {
        assert.include(files, file, name)
      }
      const strange = files.filter((file) => !/^(dist|src)\/|^(LICENSE|README\.md|package\.json)$/.test(file))
      assert.deepStrictEqual(
        [...strange, ...files.filter((file) => /tsbuildinfo|\/test\/|\.test\./.test(file))],
        [],
        name
      )
    }
  })

  it("have a manifest without anything of the workspace, whose entries are in the tarball", () => {
    for (const tarball of tarballs) {
      const text = readPacked(tarball, "package.json")
      assert.notMatch(text, /workspace:|catalog:|file:/, tarball.name)
      const manifest = JSON.parse(text)
      assert.deepStrictEqual(manifest.exports, publishedExports(root, tarball.name))
      const targets = [...text.matchAll(/"\.\/(dist\/[^"]+)"/g)].map((match) => match[1] ?? "")
      for (const target of targets) assert.include(tarball.files, target, tarball.name)
      assert.isAbove(targets.length, 1)
    }
  })

  it("load no TypeScript: imports were rewritten", () => {
    for (const name of packageNames) {
      for (const file of globSync("**/*.js", { cwd: join(root, "packages", name, "dist") })) {
        const text = readFileSync(join(root, "packages", name, "dist", file), "utf8")
        assert.notMatch(text, /(?:from|import\()\s*"\.[^"]*\.ts"/, `${name}/${file}`)
      }
    }
  })

  it("are clean by publint", async () => {
    for (const { file, name } of tarballs) {
      const bytes = new Uint8Array(readFileSync(file))
      const { messages } = await publint({ pack: { tarball: bytes.buffer } })
      assert.deepStrictEqual(messages, [], name)
    }
  })

  it("are clean by attw, as modules", () => {
    for (const { file } of tarballs) {
      execFileSync(join(root, "node_modules/.bin/attw"), [file, "--profile", "esm-only"], { stdio: "pipe" })
    }
  }, hangMillis)

  it("core's main entry and a log load no module of Node, and nothing but effect", () => {
    for (const entry of ["index.js", "Wal.js", "TypedWal.js", "WalReader.js"]) {
      const { files, others } = walkModules(join(root, "packages/core/dist", entry))
      const loads = [...others.keys()].filter((name) => name !== "effect" && !name.startsWith("effect/"))
      assert.deepStrictEqual(
        loads,
        [],
        `${entry} loads ${loads.map((name) => `${name} in ${others.get(name)}`).join()}`
      )
      assert.isAbove(files.length, 20)
    }
  })

  it("the walk finds what is loaded", () => {
    const { others } = walkModules(join(root, "packages/core/dist/node/index.js"))
    assert.isTrue(others.has("node:fs") || others.has("node:fs/promises"))
  })

  it("core can be shaken: one import is a part of it, and loads nothing else", () => {
    const here = used().folder
    const one = bundleSize(root, "export { LogId } from \"@effect-wal/core\"", here)
    const log = bundleSize(root, "export { Wal } from \"@effect-wal/core/Wal\"", here)
    assert.deepStrictEqual([one.loads, log.loads], [[], []])
    assert.isBelow(one.bytes * 3, log.bytes)
    console.log(`bundle of Wal: ${log.bytes} bytes, with gzip ${log.packedBytes}`)
    for (const { bytes, name } of tarballs) console.log(`tarball of ${name}: ${bytes} bytes`)
  }, hangMillis)

  it("type-check in an empty project: a user's programs, and the examples of their readmes", async () => {
    used().write("log.ts", useLog)
    used().write("client.ts", useClient)
    used().write("types.ts", typesOnly)
    for (const tarball of tarballs) {
      const [, block = ""] = /```ts\n(.*?)```/s.exec(readPacked(tarball, "README.md")) ?? []
      assert.notStrictEqual(block, "", tarball.name)
      used().write(`readme-${tarball.name}.ts`, block)
    }
    assert.strictEqual(await used().check(), "")
  }, hangMillis)

  it("append and replay there, on the local disk and in memory", async () => {
    used().write("log.ts", useLog)
    assert.strictEqual(await used().node("log.ts"), "2 a,b\n2 a,b\n4 a,b\n")
  }, hangMillis)

  it("the client loads there, and without the server", async () => {
    used().write("client.ts", useClient)
    assert.strictEqual(await used().node("client.ts"), "true\n")
    const { files } = walkModules(join(root, "packages/server/dist/client/index.js"))
    assert.deepStrictEqual(files.filter((file) => /\/(handlers|cli|observe|auth)\/|\/Server\.js$/.test(file)), [])
  }, hangMillis)

  it("nothing internal can be imported there", async () => {
    for (
      const entry of ["core/write/PutWorker", "core/internal/Monotonic", "core/DiskErrors", "testing/simulation/World"]
    ) {
      used().write("internal.ts", `await import("@effect-wal/${entry}").catch((error) => console.log(error.code))\n`)
      assert.strictEqual(await used().node("internal.ts"), "ERR_PACKAGE_PATH_NOT_EXPORTED\n", entry)
    }
    rmSync(join(used().folder, "internal.ts"))
  }, hangMillis)

  it("the command tells its version, serves the API and the dashboard, and stops in order", async () => {
    const { version } = manifestOf("server")
    assert.include(await used().command("effect-wal", ["--version"]), version)
    const server = used().start("effect-wal", ["serve", "--port", "0"])
    try {
      const said = await server.until("log main open")
      const url = /listens on (http:\/\/127\.0\.0\.1:\d+)/.exec(said)?.[1] ?? ""
      const answer = await fetch(`${url}/v1/streams/main/records`, {
        method: "POST",
        headers: { "content-type": "application/x-ndjson" },
        body: "1\n"
      })
      assert.deepInclude(await answer.json(), { first_seq: 1, ack: "durable" })
      assert.match(await (await fetch(`${url}/`)).text(), /^<!doctype html>/i)
      assert.strictEqual((await fetch(`${url}/docs`)).status, 200)
    } finally {
      assert.strictEqual(await server.stop(), 0)
    }
  }, hangMillis)
})
