/** The command line of `pnpm fuzz`. */
import { parseArgs } from "node:util"
import { wholeOption } from "../WholeOption.ts"
import { targetNames } from "./Targets.ts"

export const usage = `usage: pnpm fuzz --target ${targetNames.join("|")}|all [options]

  --inputs N      how many inputs a target gets (default 100000)
  --seed N        the same seed gives the same inputs, byte for byte (default 1)
  --from N        the number of the first input (default 0)
  --replay N      makes input N of the seed again, prints it as hexadecimal digits, and what comes of it
  --file PATH     checks what is in a file that --save has written
  --save DIR      writes each input that breaks a rule to a file in this folder, made as short as possible
  --hang SECONDS  an input that takes longer is a failure (default 20)
  --memory MIB    heap of the thread that decodes; an input that needs more is a failure (default 256)
  --reasons       also prints for which reasons inputs were refused, and how often
  --json          prints one line of JSON a target instead of a sentence

Progress goes to standard error. The exit code is 0 when no input broke a rule, 1 when one did, 2 for a wrong option.`

export interface FuzzOptions {
  readonly targets: ReadonlyArray<string>
  readonly inputs: number
  readonly seed: number
  readonly from: number
  readonly replay: number | undefined
  readonly file: string | undefined
  readonly save: string | undefined
  readonly hangSeconds: number
  readonly memoryMiB: number
  readonly reasons: boolean
  readonly json: boolean
}

const words = {
  target: { type: "string" },
  inputs: { type: "string", default: "100000" },
  seed: { type: "string", default: "1" },
  from: { type: "string", default: "0" },
  replay: { type: "string" },
  file: { type: "string" },
  save: { type: "string" },
  hang: { type: "string", default: "20" },
  memory: { type: "string", default: "256" },
  reasons: { type: "boolean", default: false },
  json: { type: "boolean", default: false },
  help: { type: "boolean", default: false }
} as const

/** The options, or `help`. Throws an error whose message is for the user. */
export const readOptions = (args: ReadonlyArray<string>): FuzzOptions | "help" => {
  const { values } = parseArgs({ args: args.filter((word) => word !== "--"), options: words })
  if (values.help) return "help"
  const name = values.target ?? ""
  if (name !== "all" && !targetNames.includes(name)) {
    throw new Error(`--target must be one of ${[...targetNames, "all"].join(", ")}`)
  }
  if (name === "all" && (values.replay !== undefined || values.file !== undefined)) {
    throw new Error("--replay and --file need one --target")
  }
  return {
    targets: name === "all" ? targetNames : [name],
    inputs: wholeOption("inputs", values.inputs, 1),
    seed: wholeOption("seed", values.seed, 0),
    from: wholeOption("from", values.from, 0),
    replay: values.replay === undefined ? undefined : wholeOption("replay", values.replay, 0),
    file: values.file,
    save: values.save,
    hangSeconds: wholeOption("hang", values.hang, 1),
    memoryMiB: wholeOption("memory", values.memory, 32),
    reasons: values.reasons,
    json: values.json
  }
}
