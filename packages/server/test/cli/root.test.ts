import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { execFileSync } from "node:child_process"
import { writeFileSync } from "node:fs"
import { allCommands } from "../../src/cli/CliDocs.ts"
import { append, json } from "../support/Client.ts"
import { startProgram } from "../support/Process.ts"
import { cli, configured, lines, temporary } from "./data/Cli.ts"
import { inProcess } from "./InProcess.ts"

const wanted = [
  "serve",
  "config check",
  "config print",
  "config schema",
  "append",
  "cat",
  "tail",
  "streams",
  "status",
  "cursor get",
  "cursor set",
  "flush",
  "trim",
  "inspect manifest",
  "inspect segment",
  "inspect epochs",
  "verify",
  "repair",
  "cost",
  "loss-window",
  "bench",
  "doctor"
]

/** Paths of all commands that do something: those without commands below them. */
const leaves = Effect.map(
  allCommands,
  (all) => all.filter(([path, help]) => path.length > 0 && (help.subcommands ?? []).length === 0)
)

describe("effect-wal", () => {
  it.effect("has every command", () =>
    Effect.gen(function*() {
      const names = (yield* leaves).map(([path]) => path.join(" "))
      assert.includeMembers(names, wanted)
    }))

  it.effect("describes every command and every flag, with examples that begin with the command", () =>
    Effect.gen(function*() {
      for (const [path, help] of yield* leaves) {
        const name = path.join(" ")
        assert.isAbove(help.description.length, 15, name)
        assert.isAbove(help.examples?.length ?? 0, 0, `${name} has examples`)
        for (const { command } of help.examples ?? []) assert.include(command, `effect-wal ${name}`)
        for (const flag of help.flags) assert.strictEqual(flag.description._tag, "Some", `${name} --${flag.name}`)
        assert.include((help.globalFlags ?? []).map((flag) => flag.name), "json", name)
      }
    }))

  it.effect("has no flag in its examples that the command does not know", () =>
    Effect.gen(function*() {
      for (const [path, help] of yield* leaves) {
        const known = [...help.flags, ...help.globalFlags ?? []].flatMap((
          { aliases, name }
        ) => [`--${name}`, ...aliases])
        for (const { command } of help.examples ?? []) {
          // What stands before and behind a pipe is another program's.
          const own = command.split("|").find((part) => part.includes("effect-wal")) ?? ""
          const flags = own.split(/\s+/).filter((word) => /^--?[a-z]/.test(word)).map((word) => word.split("=")[0])
          assert.includeMembers(known, flags, `${path.join(" ")}: ${command}`)
        }
      }
    }))

  it.effect("ends with 2 at a flag that no command knows, with nothing on stdout and where to look on stderr", () =>
    Effect.gen(function*() {
      const calls: ReadonlyArray<ReadonlyArray<string>> = [
        ["--frobnicate"],
        ...(yield* leaves).map(([path]) => [...path, "--frobnicate"])
      ]
      for (const args of calls) {
        const { code, err, text } = yield* inProcess(...args)
        assert.strictEqual(code, 2, args.join(" "))
        assert.strictEqual(text, "", args.join(" "))
        assert.include(err, "--frobnicate")
        assert.include(err, `see \`${["effect-wal", ...args.slice(0, -1)].join(" ")} --help\``)
      }
    }))

  it.effect("says all that as one JSON object with --json, wherever it stands", () =>
    Effect.gen(function*() {
      const calls: ReadonlyArray<readonly [args: ReadonlyArray<string>, found: string, help: string]> = [
        [["--json", "cat", "--frobnicate"], "--frobnicate", "effect-wal cat --help"],
        [["cat", "--frobnicate", "--json"], "--frobnicate", "effect-wal cat --help"],
        [["frobnicate", "--json"], "frobnicate", "effect-wal --help"],
        [["cursor", "frobnicate", "--json=true"], "frobnicate", "effect-wal cursor --help"],
        [["trim", "--json"], "seq", "effect-wal trim --help"],
        [["cost", "--rate", "-1", "--json"], "rate", "effect-wal cost --help"]
      ]
      for (const [args, found, help] of calls) {
        const { code, err, text } = yield* inProcess(...args)
        assert.deepStrictEqual({ code, text }, { code: 2, text: "" }, args.join(" "))
        const { error } = JSON.parse(err)
        assert.deepInclude(error, { code: "usage", next: `see \`${help}\``, exit_code: 2 }, args.join(" "))
        assert.include(error.message, found)
      }
      // Behind -- it is no flag.
      assert.match((yield* inProcess("cat", "--", "--json")).err, /^effect-wal: /)
    }))

  it.effect("ends with 2 at a command that there is not, and at values that are none", () =>
    Effect.gen(function*() {
      const calls = [
        ["frobnicate"],
        ["serve", "--port", "many"],
        ["cost", "--rate", "-1"],
        ["cost", "--stored-for", "30"],
        ["cost", "--preset", "fast"],
        ["cost", "--url", "http://127.0.0.1:1", "--preset", "balanced"],
        ["loss-window", "--workers", "9"],
        ["bench", "--records", "0"],
        ["doctor", "--object-bytes", "1GB"]
      ]
      for (const args of calls) {
        const { code, err } = yield* inProcess(...args)
        assert.strictEqual(code, 2, `${args.join(" ")}: ${err}`)
      }
    }))

  it.effect("shows help on stdout and ends with 0", () =>
    Effect.gen(function*() {
      for (const args of [["--help"], ["config", "--help"], ["cost", "--help"], ["config"]]) {
        const { code, text } = yield* inProcess(...args)
        assert.strictEqual(code, 0, args.join(" "))
        assert.include(text, "USAGE")
      }
    }))

  it.live("ends with 2 at a configuration that is wrong, before anything is served", () =>
    Effect.gen(function*() {
      const cwd = yield* temporary
      writeFileSync(`${cwd}/wal.yaml`, "streams:\n  - id: a\n    durabilty: 1\n")
      const calls = [
        ["serve", "--config", `${cwd}/wal.yaml`],
        ["--config", `${cwd}/wal.yaml`],
        ["serve", "--config", `${cwd}/absent.yaml`],
        ["serve", "--host", "0.0.0.0"],
        ["serve", "--port", "99999"],
        ["config", "print", "--config", `${cwd}/wal.yaml`],
        ["doctor", "--config", `${cwd}/wal.yaml`],
        ["bench", "--config", `${cwd}/wal.yaml`]
      ]
      for (const args of calls) {
        const { code, err, text } = yield* inProcess(...args)
        assert.deepStrictEqual({ code, text }, { code: 2, text: "" }, args.join(" "))
        assert.include(err, "what to do: ")
      }
    }).pipe(Effect.provide(NodeServices.layer)))

  it.live("is a process that ends with these codes, without a stack trace", () =>
    Effect.gen(function*() {
      const cwd = yield* temporary
      const wrong = yield* cli(["cost", "--frobnicate"], { cwd })
      assert.deepInclude(wrong, { code: 2, text: "" })
      assert.include(wrong.err, "see `effect-wal cost --help`")
      assert.notMatch(wrong.err, /^\s+at /m)
      const good = yield* cli(["loss-window", "--json"], { cwd })
      assert.deepInclude(good, { code: 0, err: "" })
      assert.lengthOf(lines(good.text), 1)
    }).pipe(Effect.provide(NodeServices.layer)))

  it.live("serve --json: the first line says where it listens, and logs are JSON", () =>
    Effect.gen(function*() {
      const cwd = yield* configured("local")
      const program = yield* startProgram({ args: ["serve", "--config", "wal.yaml", "--json"], cwd })
      yield* program.until("log orders open")
      const values = lines(program.output()).map((line) => JSON.parse(line))
      const port = values.find((value) => value.listening !== undefined)?.listening.port
      assert.isAbove(port, 0)
      assert.deepInclude(json(yield* append(port, "application/x-ndjson", "1\n")), { last_seq: 1 })
      program.kill("SIGTERM")
      assert.strictEqual(yield* program.ended, 0)
    }).pipe(Effect.provide(NodeServices.layer)))
})

describe("completions", () => {
  for (const shell of ["bash", "zsh", "fish"] as const) {
    it.effect(`${shell}: a script that knows all commands`, () =>
      Effect.gen(function*() {
        const { code, text } = yield* inProcess("--completions", shell)
        assert.strictEqual(code, 0)
        for (const name of new Set(wanted.flatMap((each) => each.split(" ")))) assert.include(text, name)
        assert.include(text, "json")
      }))
  }

  it.live("bash takes the script, and completes by it", () =>
    Effect.gen(function*() {
      const cwd = yield* temporary
      const { text } = yield* inProcess("--completions", "bash")
      writeFileSync(`${cwd}/script`, text)
      const probe =
        "source ./script; COMP_WORDS=(effect-wal conf); COMP_CWORD=1; COMP_LINE='effect-wal conf'; COMP_POINT=15; " +
        "$(complete -p effect-wal | sed 's/.*-F \\([^ ]*\\).*/\\1/'); echo \"${COMPREPLY[@]}\""
      assert.include(execFileSync("bash", ["-c", probe], { cwd, encoding: "utf8" }), "config")
    }).pipe(Effect.provide(NodeServices.layer)))
})
