/** The YAML and JSON of the pages: each block of YAML is a configuration that passes its check, JSON parses. */
import { Effect } from "effect"
import { loadConfig } from "../../packages/server/src/config/ServerConfig.ts"
import type { Block } from "./Markdown.ts"

const place = ({ line, page }: Block): string => `${page}:${line}`

/** A value for each variable that a configuration names and gives no default. */
const environmentOf = (text: string): Readonly<Record<string, string>> =>
  Object.fromEntries(
    [...text.matchAll(/\$\{([A-Z_][A-Z0-9_]*)\}|\benv: ([A-Z_][A-Z0-9_]*)/g)].map(([, variable, token]) => [
      variable ?? token ?? "",
      "some-value-of-some-length-0123456789"
    ])
  )

/** What is wrong with a block of YAML or JSON, with page and line; other languages have nothing. */
export const dataProblems = (block: Block): Effect.Effect<ReadonlyArray<string>> => {
  if (block.language === "json") {
    return Effect.try({ try: () => JSON.parse(block.text), catch: String }).pipe(
      Effect.as<ReadonlyArray<string>>([]),
      Effect.catch((cause) => Effect.succeed([`${place(block)}: ${cause}`]))
    )
  }
  if (block.language !== "yaml") return Effect.succeed([])
  return loadConfig({ text: block.text, env: environmentOf(block.text), insecure: true }).pipe(
    Effect.as<ReadonlyArray<string>>([]),
    Effect.catch((error) => Effect.succeed([`${place(block)}: ${error.message}`]))
  )
}
