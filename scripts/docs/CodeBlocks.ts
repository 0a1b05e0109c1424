/**
 * The TypeScript of the pages as modules: each `ts` block is one. `more` adds to the block before it, `run` is run, `test`
 * is run as a test.
 */
import { execFile } from "node:child_process"
import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { type Block, type Page, root } from "./Markdown.ts"
import { linkPackages } from "./Workspace.ts"

/** A block, as a module. */
export interface Module {
  readonly block: Block
  /** From the folder of the modules. */
  readonly file: string
  readonly text: string
  /** Where each line of the text stands, from 1. */
  readonly lines: ReadonlyArray<number>
  /** What it prints, where the page says so. */
  readonly output: string | undefined
}

const isCode = ({ language }: Block): boolean => language === "ts" || language === "typescript"

const linesOf = (block: Block): ReadonlyArray<number> =>
  block.text.split("\n").slice(0, -1).map((_, index) => block.line + index)

const fileOf = ({ line, marks, page }: Block): string =>
  `${page.replaceAll(/[^A-Za-z0-9]+/g, "-")}-${line}${marks.includes("test") ? ".test" : ""}.ts`

/** The modules of a page. */
export const modulesOf = ({ blocks }: Page): ReadonlyArray<Module> => {
  const modules: Array<Module> = []
  for (const [index, block] of blocks.entries()) {
    if (!isCode(block)) continue
    const before = block.marks.includes("more") ? modules.at(-1) : undefined
    const next = blocks[index + 1]
    modules.push({
      block,
      file: fileOf(block),
      text: (before?.text ?? "") + block.text,
      lines: [...before?.lines ?? [], ...linesOf(block)],
      output: next?.language === "text" && next.marks.includes("output") ? next.text : undefined
    })
  }
  return modules
}

/** A module with a fault that the compiler must see, else it has not looked. */
const canary = { file: "canary.ts", text: "export const canary: string = 1\n" }

const settings = {
  extends: join(root, "tsconfig.base.json"),
  compilerOptions: {
    composite: false,
    incremental: false,
    declaration: false,
    declarationMap: false,
    sourceMap: false,
    noEmit: true,
    rewriteRelativeImportExtensions: false,
    allowImportingTsExtensions: true,
    // What a page shows need not be used on it.
    noUnusedLocals: false,
    noUnusedParameters: false
  },
  include: ["*.ts"]
}

/** Writes the modules into the folder, with what they import. */
export const writeModules = (folder: string, modules: ReadonlyArray<Module>): void => {
  mkdirSync(folder, { recursive: true })
  linkPackages(folder)
  for (const { file, text } of [...modules, canary]) writeFileSync(join(folder, file), text)
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify(settings))
}

/** What a program printed on both streams, and how it ended. */
export interface Ran {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

/** Runs a program to its end. */
export const runProgram = (
  program: string,
  args: ReadonlyArray<string>,
  options: { readonly cwd: string; readonly env?: Readonly<Record<string, string | undefined>> }
): Promise<Ran> =>
  new Promise((resolve) => {
    execFile(program, [...args], { ...options, maxBuffer: 64 * 1024 * 1024 }, (error, stdout, stderr) => {
      const code = error === null ? 0 : typeof error.code === "number" ? error.code : 1
      resolve({ code, stdout, stderr })
    })
  })

/** Type-checks the modules; answers the faults, each with page and line. Throws where the compiler did not look at them. */
export const typeFaults = async (folder: string, modules: ReadonlyArray<Module>): Promise<ReadonlyArray<string>> => {
  const { stderr, stdout } = await runProgram(
    join(root, "node_modules/.bin/tsc"),
    ["--pretty", "false", "-p", folder],
    {
      cwd: folder
    }
  )
  const found = [...stdout.matchAll(/^([^\s(]+)\((\d+),\d+\): (.*)$/gm)]
  if (!found.some(([, file]) => file === canary.file)) {
    throw new Error(`tsc did not check the blocks:\n${stdout}${stderr}`)
  }
  const byFile = new Map(modules.map((module) => [module.file, module]))
  return found.flatMap(([, file = "", line = "", text = ""]) => {
    const module = byFile.get(file)
    return module === undefined ? [] : [`${module.block.page}:${module.lines[Number(line) - 1] ?? "?"}: ${text}`]
  })
}

/** Lines of a program that are its own, without those of the log. */
export const ownLines = (stdout: string): ReadonlyArray<string> =>
  stdout.split("\n").filter((line) => line !== "" && !/^ {2}|^\[\d\d:\d\d:\d\d/.test(line))
