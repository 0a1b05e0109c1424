/** The model of the reference: what TypeDoc reads of the packages, and what is wrong with it. */
import { join } from "node:path"
import { Application, Logger, LogLevel, type ProjectReflection } from "typedoc"
import { entries, root, unexported } from "./Packages.ts"

/** Keeps warnings and errors instead of printing them. */
class KeptProblems extends Logger {
  readonly problems: Array<string> = []

  override log(message: string, level: LogLevel): void {
    if (level >= LogLevel.Warn) this.problems.push(message)
  }
}

/** What the exports of each package may name without its being exported. */
type Unexported = Readonly<Record<string, ReadonlyArray<string>>>

export interface Reference {
  readonly app: Application
  readonly project: ProjectReflection
  /** Exports without a docstring, links that lead nowhere, types that are named and not exported; in words. */
  readonly problems: (allowed?: Unexported) => ReadonlyArray<string>
}

/** Values that are shown whole; their members need no words of their own. */
const plainValues = /\.survivals\.__type\.|\.HttpS3Action\.Action\.__type\./

const bootstrap = async (): Promise<readonly [Application, KeptProblems]> => {
  const kept = new KeptProblems()
  const app = await Application.bootstrap({
    name: "effect-wal",
    readme: "none",
    tsconfig: join(root, "reference/tsconfig.packages.json"),
    basePath: root,
    entryPoints: entries.map(({ file }) => join(root, file)),
    entryPointStrategy: "resolve",
    excludeExternals: true,
    excludePrivate: true,
    // `tsc -b` has checked the types.
    skipErrorChecking: true,
    disableGit: true,
    sourceLinkTemplate: "{path}",
    validation: { invalidLink: true, notDocumented: true, notExported: true, rewrittenLink: true },
    requiredToBeDocumented: ["Class", "Enum", "Function", "Interface", "TypeAlias", "Variable"],
    packagesRequiringDocumentation: Object.keys(unexported)
  })
  app.logger = kept
  return [app, kept]
}

/** Modules are named by how they are imported, not by where they are. */
const nameModules = (project: ProjectReflection): void => {
  for (const module of project.children ?? []) {
    const file = module.sources?.[0]?.fileName
    const entry = entries.find((one) => one.file === file)
    if (entry !== undefined) module.name = entry.name
  }
}

interface Validated {
  readonly app: Application
  readonly kept: KeptProblems
  readonly project: ProjectReflection
  readonly allowed: Unexported
}

/** TypeDoc looks for what is named without being exported in one package at a time. */
const problemsOf = ({ allowed, app, kept, project }: Validated): ReadonlyArray<string> => {
  const before = kept.problems.length
  for (const [name, types] of Object.entries(allowed)) {
    project.packageName = name
    app.options.setValue("intentionallyNotExported", [...types])
    app.validate(project)
  }
  return [...new Set(kept.problems.slice(before))].filter((problem) => !plainValues.test(problem))
}

/** Reads the packages; takes some twenty seconds of a processor. */
export const readReference = async (): Promise<Reference> => {
  const [app, kept] = await bootstrap()
  const project = await app.convert()
  if (project === undefined) throw new Error(`TypeDoc could not read the packages:\n${kept.problems.join("\n")}`)
  nameModules(project)
  return { app, project, problems: (allowed = unexported) => problemsOf({ allowed, app, kept, project }) }
}
