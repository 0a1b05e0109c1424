/**
 * Runs once before and after all tests: finds or starts the real S3 server that the integration tests need.
 *
 * A server named in the environment is used as it is. Else, where Ceph is installed (`scripts/radosgw.sh install`), one
 * is started for this run alone and stopped after it. Else the run says, at its start and again at its end, which tests
 * it left out.
 */
import { spawnSync } from "node:child_process"
import { existsSync, readdirSync, rmSync } from "node:fs"
import { connect } from "node:net"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import type { TestProject, Vitest } from "vitest/node"
import { leftOutMessage, realS3 } from "../packages/testing/src/RealS3.ts"

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const script = join(root, "scripts", "radosgw.sh")
const directoryPrefix = "effect-wal-rgw-"

interface IntegrationTest {
  readonly project: string
  readonly file: string
}

const integrationTests = (): ReadonlyArray<IntegrationTest> =>
  readdirSync(join(root, "packages")).flatMap((project) => {
    const tests = join(root, "packages", project, "test")
    if (!existsSync(tests)) return []
    return readdirSync(tests, { recursive: true, encoding: "utf8" })
      .filter((file) => file.endsWith(".integration.test.ts"))
      .map((file) => ({ project, file: join("packages", project, "test", file) }))
  }).toSorted((left, right) => left.file < right.file ? -1 : 1)

/** Those that this run would run: a run of other files or projects needs no server and leaves nothing out. */
const selectedTests = (vitest: Vitest): ReadonlyArray<IntegrationTest> => {
  const projects = new Set(vitest.projects.map((project) => project.name))
  // Not in Vitest's types; where it is missing, every file counts as selected.
  const given: unknown = Reflect.get(vitest, "filenamePattern")
  const patterns = Array.isArray(given) ? given.map(String) : undefined
  return integrationTests().filter((test) =>
    projects.has(test.project) &&
    (patterns === undefined || patterns.some((pattern) => join(root, test.file).includes(pattern)))
  )
}

const radosgw = (action: string, environment: Readonly<Record<string, string>> = {}) =>
  spawnSync("bash", [script, action], { env: { ...process.env, ...environment }, encoding: "utf8" })

const isRunning = (pid: number): boolean => existsSync(`/proc/${pid}`)

/** Stops what test runs left behind that were killed before they could. */
const stopAbandoned = (): void => {
  for (const name of readdirSync(tmpdir())) {
    const pid = Number(name.slice(directoryPrefix.length))
    if (!name.startsWith(directoryPrefix) || !Number.isInteger(pid) || isRunning(pid)) continue
    radosgw("stop", { RGW_DIR: join(tmpdir(), name) })
    rmSync(join(tmpdir(), name), { recursive: true, force: true })
  }
}

const isTaken = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1")
    socket.once("connect", () => {
      socket.destroy()
      resolve(true)
    })
    socket.once("error", () => resolve(false))
  })

/** Two ports in a row that nobody listens on, below the range that the system gives to clients. */
const freePort = async (): Promise<number> => {
  for (let step = 0; step < 100; step++) {
    const port = 10_000 + (process.pid * 2 + step * 202) % 20_000
    if (!(await isTaken(port)) && !(await isTaken(port + 1))) return port
  }
  throw new Error("no free port for the S3 server of the tests")
}

/** Starts a server for this run and names it in the environment, which test workers inherit. Answers how to stop it. */
const start = async (): Promise<() => void> => {
  stopAbandoned()
  const directory = join(tmpdir(), `${directoryPrefix}${process.pid}`)
  const environment = { RGW_DIR: directory, RGW_PORT: String(await freePort()) }
  const started = radosgw("start", environment)
  if (started.status !== 0) throw new Error(`the installed S3 server did not start:\n${started.stderr}`)
  for (const line of started.stdout.trim().split("\n")) {
    const [name = "", ...value] = line.split("=")
    process.env[name] = value.join("=")
  }
  return () => {
    radosgw("stop", environment)
    rmSync(directory, { recursive: true, force: true })
  }
}

/** Vitest's global set-up. Several projects name this file; the first that needs the server does the work. */
export const setup = async (project: TestProject): Promise<(() => void) | undefined> => {
  const tests = selectedTests(project.vitest)
  if (!tests.some((test) => test.project === project.name)) return undefined
  if (process.env["EFFECT_WAL_TEST_SETUP"] !== undefined) return undefined
  process.env["EFFECT_WAL_TEST_SETUP"] = "done"
  if (realS3(process.env) !== undefined) return undefined
  if (radosgw("installed").status === 0) return start()
  const message = leftOutMessage(tests.map((test) => test.file))
  process.stderr.write(message)
  return () => {
    process.stderr.write(message)
  }
}
