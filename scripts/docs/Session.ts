/**
 * The commands of a page in the order of the page, in a folder that looks like a checkout, with a store of their own.
 *
 * A command that starts a server goes on in the background, at a free port, until the next one starts or the page ends; then
 * it must stop in order. A page that asks a server and starts none gets one with three records. A command ends with 0, or
 * as a comment behind it says: `# ends with 4`.
 */
import { Effect, Redacted, Schedule } from "effect"
import { type ChildProcess, spawn } from "node:child_process"
import { basename } from "node:path"
import type { RealS3 } from "../../packages/testing/src/RealS3.ts"
import { differences } from "./Answers.ts"
import { runProgram } from "./CodeBlocks.ts"
import { type Command, commandsOf, exported, isEndless, isServer, plainText } from "./Commands.ts"
import type { Page } from "./Markdown.ts"
import { notRunEntry } from "./NotRun.ts"
import { linkCheckout } from "./Workspace.ts"

const usualPort = 8180

/** Variables that name the reader's own store; here it is the test's. */
const storeVariables = (store: RealS3): Readonly<Record<string, string>> => ({
  S3_ENDPOINT: store.endpoint,
  S3_BUCKET: store.bucket,
  AWS_REGION: store.region,
  AWS_ACCESS_KEY_ID: store.credentials.accessKeyId,
  AWS_SECRET_ACCESS_KEY: Redacted.value(store.credentials.secretAccessKey)
})

interface Server {
  readonly process: ChildProcess
  readonly output: () => string
  /** The port that the page speaks of, and the one that it is at. */
  readonly shownPort: number
  readonly port: number
  readonly ended: Promise<number | string>
}

interface State {
  readonly folder: string
  readonly env: Record<string, string>
  readonly own: ReadonlySet<string>
  server: Server | undefined
  /** What the last command printed. */
  printed: string
  readonly problems: Array<string>
}

const at = ({ line, page }: Command): string => `${page}:${line}`

const fail = (state: State, command: Command, what: string): void => {
  state.problems.push(`${at(command)}: ${plainText(command)}\n${what}`)
}

const start = (state: State, text: string, shownPort: number): Promise<Server> =>
  new Promise((resolve, reject) => {
    const child = spawn("/bin/sh", ["-c", `exec ${text}`], {
      cwd: state.folder,
      env: state.env,
      stdio: ["ignore", "pipe", "pipe"]
    })
    let output = ""
    const ended = new Promise<number | string>((end) => {
      child.on("close", (code, signal) => {
        end(code ?? signal ?? "unknown")
        reject(new Error(output))
      })
    })
    const read = (chunk: Buffer) => {
      output += chunk.toString()
      const [, port] = /listens on https?:\/\/[^\s:]+:(\d+)/.exec(output) ?? []
      if (port !== undefined) resolve({ process: child, output: () => output, shownPort, port: Number(port), ended })
    }
    child.stdout.on("data", read)
    child.stderr.on("data", read)
  })

/** Completes when the server can take records. */
const ready = (port: number): Effect.Effect<void> =>
  Effect.promise(async () => (await fetch(`http://127.0.0.1:${port}/readyz`)).status).pipe(
    Effect.repeat({ until: (status) => status === 200, schedule: Schedule.spaced("20 millis") }),
    Effect.asVoid
  )

const stopServer = Effect.fnUntraced(function*(state: State, command: Command) {
  const { server } = state
  if (server === undefined) return
  state.server = undefined
  delete state.env["EFFECT_WAL_URL"]
  server.process.kill("SIGTERM")
  const end = yield* Effect.promise(() => server.ended)
  if (end !== 0) fail(state, command, `the server before it ended with ${end}:\n${server.output()}`)
})

const serve = Effect.fnUntraced(function*(state: State, command: Command) {
  yield* stopServer(state, command)
  const text = plainText(command)
  const shownPort = Number(/--port (\d+)/.exec(text)?.[1] ?? usualPort)
  const bare = text === "npm start" ? "npm start --" : text
  const server = yield* Effect.promise(() =>
    start(state, `${bare.replace(/ --port \d+/, "")} --port 0`, shownPort).catch((cause: unknown) => String(cause))
  )
  if (typeof server === "string") return fail(state, command, server)
  state.server = server
  // Where the command `effect-wal` looks when nobody names a server, but for the port.
  state.env["EFFECT_WAL_URL"] = `http://127.0.0.1:${server.port}`
  yield* ready(server.port)
})

const seeded: Command = { page: "a page without a server", line: 0, text: "npm start" }

const asksServer = ({ text }: Command): boolean =>
  /:8180\b/.test(text) ||
  (/\beffect-wal (append|cat|tail|streams|status|cursor|flush|trim)\b/.test(text) && !/--(config|url|help)/.test(text))

const usualServer = Effect.fnUntraced(function*(state: State) {
  yield* serve(state, seeded)
  const { server } = state
  if (server === undefined) return
  yield* Effect.promise(() =>
    fetch(`http://127.0.0.1:${server.port}/v1/streams/main/records`, {
      method: "POST",
      headers: { "content-type": "application/x-ndjson" },
      body: "{\"order\":1}\n{\"order\":2}\n{\"order\":3}\n"
    })
  )
})

const withPort = (state: State, text: string): string =>
  state.server === undefined
    ? text
    : text.replaceAll(
      new RegExp(`(127\\.0\\.0\\.1|localhost):${state.server.shownPort}`, "g"),
      `$1:${state.server.port}`
    )

/** Runs it until it has printed something, then ends it. */
const runEndless = (state: State, text: string): Promise<string> =>
  new Promise((resolve) => {
    const child = spawn("/bin/sh", ["-c", `exec ${text}`], {
      cwd: state.folder,
      env: state.env,
      stdio: ["ignore", "pipe", "ignore"]
    })
    child.stdout.once("data", (chunk: Buffer) => {
      resolve(chunk.toString())
      child.kill("SIGTERM")
    })
    child.once("close", () => resolve(""))
  })

const run = Effect.fnUntraced(function*(state: State, command: Command) {
  const entry = notRunEntry(command)
  if (entry !== undefined) {
    for (const problem of entry.problems(plainText(command))) fail(state, command, problem)
    return
  }
  const variables = exported(command)
  if (variables !== undefined) {
    for (const [name, value] of Object.entries(variables)) if (!state.own.has(name)) state.env[name] = value
    return
  }
  if (isServer(command)) return yield* serve(state, command)
  if (asksServer(command) && state.server === undefined) yield* usualServer(state)
  const text = withPort(state, command.text)
  if (isEndless(command)) {
    if ((yield* Effect.promise(() => runEndless(state, text))) === "") fail(state, command, "it printed nothing")
    return
  }
  const ran = yield* Effect.promise(() => runProgram("/bin/sh", ["-c", text], { cwd: state.folder, env: state.env }))
  state.printed = ran.stdout
  const expected = Number(/# ends with (\d+)$/.exec(command.text)?.[1] ?? 0)
  if (ran.code !== expected) fail(state, command, `ended with ${ran.code}:\n${ran.stdout}${ran.stderr}`)
})

const compare = (state: State, line: number, page: string, text: string): void => {
  let came: unknown
  try {
    came = JSON.parse(state.printed)
  } catch {
    state.problems.push(`${page}:${line}: the answer is not JSON: ${state.printed}`)
    return
  }
  for (const problem of differences(JSON.parse(text), came)) state.problems.push(`${page}:${line}: ${problem}`)
}

/** Where a page's commands run. */
export interface Place {
  /** Of this page alone; also names its logs. */
  readonly folder: string
  /** For what Node has compiled, shared by all pages. */
  readonly compiled: string
  readonly store: RealS3
}

/** Runs the page's commands; answers what went otherwise than the page says, each with its line. */
export const runPage = Effect.fnUntraced(function*(page: Page, place: Place) {
  const { folder } = place
  const programs = linkCheckout(folder)
  const own = storeVariables(place.store)
  const state: State = {
    folder,
    env: {
      PATH: `${programs}:${process.env["PATH"] ?? ""}`,
      CURL_HOME: programs,
      HOME: folder,
      // Each process loads the same modules; what the first has compiled, the others take.
      NODE_COMPILE_CACHE: place.compiled,
      WAL_PREFIX: `docs/${basename(place.folder)}`,
      HOSTNAME: "wal-0",
      NODE_ID: "node-0",
      ...own
    },
    own: new Set(Object.keys(own)),
    server: undefined,
    printed: "",
    problems: []
  }
  const end: Command = { page: page.path, line: 0, text: "the end of the page" }
  yield* Effect.forEach(page.blocks, (block) => {
    if (block.language === "sh") {
      return Effect.forEach(commandsOf(block), (command) => run(state, command), { discard: true })
    }
    if (block.language === "json" && block.marks.includes("answer")) compare(state, block.line, block.page, block.text)
    return Effect.void
  }, { discard: true }).pipe(Effect.ensuring(stopServer(state, end)))
  return state.problems
})
