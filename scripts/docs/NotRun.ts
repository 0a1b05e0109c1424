/**
 * Commands of the pages that no test runs, each with the reason, and what is checked of them instead: that scripts, paths
 * and flags that they name are there.
 */
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs"
import { join } from "node:path"
import { type Command, plainText } from "./Commands.ts"
import { root } from "./Markdown.ts"
import { rootScripts } from "./Workspace.ts"

/** One kind of command. */
export interface NotRun {
  readonly matches: RegExp
  readonly reason: string
  /** What is wrong with such a command; nothing, as far as it can be known. */
  readonly problems: (text: string) => ReadonlyArray<string>
}

const folders = readdirSync(root).filter((name) => statSync(join(root, name)).isDirectory())
const ours = new RegExp(`^(?:\\./)?(?:${folders.filter((name) => !name.startsWith(".")).join("|")})/[^\\s"'$*]*`)

/** Paths of this repository that a command names and that are not there. */
const missingPaths = (text: string): ReadonlyArray<string> =>
  text.split(/[\s"'=()]+/).flatMap((word) => {
    const [path] = ours.exec(word) ?? []
    return path === undefined || path.startsWith("node_modules/") || existsSync(join(root, path))
      ? []
      : [`${path} does not exist`]
  })

const missingPrograms = (text: string): ReadonlyArray<string> =>
  [...text.matchAll(/(?:^|\s)(node_modules\/\.bin\/\S+)/g)].flatMap(([, path = ""]) =>
    existsSync(join(root, path)) ? [] : [`${path} is not installed`]
  )

const textBelow = (path: string): string => {
  const full = join(root, path)
  if (!existsSync(full)) return ""
  if (statSync(full).isFile()) return readFileSync(full, "utf8")
  return readdirSync(full).map((name) => textBelow(`${path}/${name}`)).join("\n")
}

/** Flags that nothing in the sources of a script names. */
const missingFlags = (text: string, sources: ReadonlyArray<string>): ReadonlyArray<string> => {
  const all = sources.map(textBelow).join("\n")
  return [...text.matchAll(/ --([a-z][a-z-]*)/g)].flatMap(([, flag = ""]) =>
    new RegExp(`["'\`]${flag}["'\`]|--${flag}\\b|\\b${flag}: \\{ type:`).test(all) ? [] : [`there is no flag --${flag}`]
  )
}

/** The files behind a script of the root: its program, and the folder of the same name beside it. */
const sourcesOf = (command: string): ReadonlyArray<string> => {
  const [path = ""] = /\b(?:scripts|bench)\/\S+\.ts/.exec(command) ?? []
  const folder = path.endsWith("/main.ts") ? path.slice(0, -"/main.ts".length) : path.slice(0, -".ts".length)
  return [path, folder, ...path.startsWith("bench/") ? ["bench/src"] : []]
}

const versions = [...textBelow("package.json").matchAll(/pnpm@([\d.]+)/g)].map(([, version]) => version)

const ofScript = (text: string): ReadonlyArray<string> => {
  const [, version, name = "", rest = ""] = /^(?:npx -y pnpm@(\S+)|pnpm) (\S+)(.*)$/.exec(text) ?? []
  const command = rootScripts()[name]
  const problems = version === undefined || versions.includes(version) ? [] : [`pnpm@${version} is not the one we use`]
  if (command === undefined) return [...problems, `package.json has no script ${name}`]
  const [scenario = ""] = rest.trim().split(" ")
  const scenarioProblems = name !== "acceptance" || scenario === "" || scenario.startsWith("-") ||
      existsSync(join(root, "scripts/acceptance", `${scenario}.ts`))
    ? []
    : [`there is no scenario ${scenario}`]
  return [...problems, ...scenarioProblems, ...missingFlags(rest, sourcesOf(command))]
}

const ofNode = (text: string): ReadonlyArray<string> => {
  const [, rest = ""] = /\bnode (\S+.*)$/.exec(text) ?? []
  const [path = ""] = rest.split(" ")
  return [...missingPaths(text), ...missingFlags(rest, [path, path.replace(/\.ts$/, ""), "scripts/rules.ts"])]
}

const ofVitest = (text: string): ReadonlyArray<string> => {
  const [, project] = /--project (\S+)/.exec(text) ?? []
  const known = textBelow("vitest.workspace.ts")
  return project === undefined || project === "NAME" || known.includes(`"${project}"`)
    ? [...missingPaths(text.replace(/ scripts\/docs$/, "")), ...missingPrograms(text)]
    : [`there is no project ${project}`]
}

const ofGateway = (text: string): ReadonlyArray<string> => {
  const source = textBelow("scripts/radosgw.sh")
  return [...text.matchAll(/scripts\/radosgw\.sh (\w+)/g)].flatMap(([, action = ""]) =>
    new RegExp(`^\\s*(?:\\w+ ?\\| ?)*${action}\\b[^)]*\\)`, "m").test(source)
      ? []
      : [`radosgw.sh has no action ${action}`]
  )
}

const places = (text: string): ReadonlyArray<string> => [...missingPaths(text), ...missingPrograms(text)]

/** All of them; the first that matches counts. */
export const notRun: ReadonlyArray<NotRun> = [
  { matches: /scripts\/radosgw\.sh/, reason: "installs a server, as root", problems: ofGateway },
  {
    matches: /^(\.ci\/run|npm test)\b/,
    reason: "runs this test, and all others",
    problems: (text) => text.startsWith(".ci/run") && !existsSync(join(root, ".ci/run")) ? [".ci/run is not there"] : []
  },
  { matches: /^node_modules\/\.bin\/vitest\b/, reason: "runs other tests", problems: ofVitest },
  {
    matches: /^node_modules\/\.bin\/(tsc|oxlint|dprint|knip)\b/,
    reason: "a static check, run by CI",
    problems: places
  },
  {
    matches: /^(npx -y pnpm@\S+|pnpm) (acceptance|bench|check|fuzz|model|sim)\b/,
    reason: "takes minutes",
    problems: ofScript
  },
  { matches: /^(node_modules\/\.bin\/)?node scripts\//, reason: "writes files, or takes minutes", problems: ofNode },
  {
    matches: /^(npx -y pnpm@\S+|pnpm) (install|pack|exec|-r|changeset|build|publish)\b/,
    reason: "installs, packs or publishes",
    problems: places
  },
  {
    matches: /^npm install\b/,
    reason: "asks the registry; scripts/packages.test.ts installs tarballs",
    problems: places
  },
  { matches: /^(kubectl|helm)\b/, reason: "needs a cluster", problems: places },
  { matches: /^docker\b/, reason: "needs a container runtime", problems: places },
  { matches: /^aws\b/, reason: "needs an account", problems: places },
  { matches: /^(sudo )?(systemctl|journalctl|install|useradd)\b/, reason: "changes the machine", problems: places },
  { matches: /^promtool\b/, reason: "is not a package of this repository", problems: places },
  { matches: /^git\b/, reason: "changes a checkout", problems: places }
]

/** The entry that a command belongs to; `undefined` where it is run. */
export const notRunEntry = (command: Command): NotRun | undefined =>
  notRun.find(({ matches }) => matches.test(plainText(command)))
