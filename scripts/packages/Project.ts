/** An empty project outside of the workspace, in which the tarballs are installed as anybody would. */
import { execFile, execFileSync, spawn } from "node:child_process"
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { delimiter, dirname, join } from "node:path"
import { promisify } from "node:util"

const run = promisify(execFile)

/** A program that was started in the project. */
export interface Started {
  /** Completes with what it has said once that holds `text`; fails when it ends before. */
  readonly until: (text: string) => Promise<string>
  /** Sends SIGTERM and completes with the exit code. */
  readonly stop: () => Promise<number | null>
}

/** The project. */
export interface Project {
  readonly folder: string
  readonly write: (file: string, text: string) => void
  /** Runs a TypeScript file of the project; answers what it printed. */
  readonly node: (file: string) => Promise<string>
  /** Runs an installed command to its end. */
  readonly command: (name: string, args: ReadonlyArray<string>) => Promise<string>
  readonly start: (name: string, args: ReadonlyArray<string>) => Started
  /** Type-checks every TypeScript file of the project; answers what is wrong. */
  readonly check: () => Promise<string>
  readonly remove: () => void
}

const environment = { ...process.env, PATH: `${dirname(process.execPath)}${delimiter}${process.env["PATH"] ?? ""}` }

const compilerOptions = {
  target: "ES2024",
  lib: ["ES2024"],
  module: "NodeNext",
  strict: true,
  exactOptionalPropertyTypes: true,
  noEmit: true,
  skipLibCheck: true,
  types: ["node"]
}

/** The types of Node are those of this repository: whoever writes TypeScript for Node has some. */
const tsconfig = (root: string) => ({
  compilerOptions: { ...compilerOptions, typeRoots: [join(root, "node_modules/@types")] },
  include: ["*.ts"]
})

const startIn = (folder: string, name: string, args: ReadonlyArray<string>): Started => {
  const child = spawn(join(folder, "node_modules/.bin", name), args, { cwd: folder, env: environment })
  let said = ""
  let wake = () => {}
  let ended: number | null | undefined
  for (const stream of [child.stdout, child.stderr]) {
    stream.on("data", (chunk: Buffer) => {
      said += chunk.toString()
      wake()
    })
  }
  child.on("close", (code) => {
    ended = code
    wake()
  })
  const change = () =>
    new Promise<void>((resolve) => {
      wake = resolve
    })
  return {
    until: async (text) => {
      while (!said.includes(text)) {
        if (ended !== undefined) throw new Error(`${name} ended with ${ended} before "${text}":\n${said}`)
        await change()
      }
      return said
    },
    stop: async () => {
      child.kill("SIGTERM")
      while (ended === undefined) await change()
      return ended
    }
  }
}

/** Makes the project and installs the tarballs, with what they need from the registry or npm's cache. */
export const installProject = (root: string, tarballs: ReadonlyArray<string>): Project => {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "effect-wal-project-")))
  const write = (file: string, text: string) => writeFileSync(join(folder, file), text)
  write("package.json", JSON.stringify({ name: "empty-project", private: true, type: "module" }))
  // Without install scripts: zstd-napi would be compiled, and is not needed.
  const quiet = ["--no-audit", "--no-fund", "--ignore-scripts", "--prefer-offline", "--loglevel=error"]
  try {
    execFileSync("npm", ["install", ...quiet, ...tarballs], { cwd: folder, stdio: "pipe" })
  } catch (cause) {
    rmSync(folder, { recursive: true, force: true })
    throw cause
  }
  write("tsconfig.json", JSON.stringify(tsconfig(root)))
  const options = { cwd: folder, env: environment }
  return {
    folder,
    write,
    node: async (file) => (await run(process.execPath, [file], options)).stdout,
    command: async (name, args) => (await run(join(folder, "node_modules/.bin", name), [...args], options)).stdout,
    start: (name, args) => startIn(folder, name, args),
    check: () =>
      run(join(root, "node_modules/.bin/tsc"), ["-p", "."], options).then(
        ({ stdout }) => stdout,
        (error: { readonly stdout: string }) => error.stdout
      ),
    remove: () => rmSync(folder, { recursive: true, force: true })
  }
}
