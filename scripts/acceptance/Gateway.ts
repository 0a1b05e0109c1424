/** A real S3 server of this run alone, whose gateway can be killed, frozen and brought back: no other run may notice. */
import { spawn } from "node:child_process"
import { once } from "node:events"
import { join } from "node:path"
import { type RealS3, realS3 } from "../../packages/testing/src/RealS3.ts"
import { root } from "./Places.ts"
import type { Run } from "./Run.ts"

/** Apart from the server that tests share; both can be set. */
const environment = {
  ...process.env,
  RGW_DIR: process.env["OUTAGE_RGW_DIR"] ?? "/tmp/effect-wal-rgw-outage",
  RGW_PORT: process.env["OUTAGE_RGW_PORT"] ?? "7490",
  RGW_STORE_GB: "3"
}

const script = async (...args: ReadonlyArray<string>): Promise<string> => {
  const child = spawn("bash", [join(root, "scripts", "radosgw.sh"), ...args], {
    env: environment,
    stdio: ["ignore", "pipe", "pipe"]
  })
  let out = ""
  let err = ""
  child.stdout.setEncoding("utf8").on("data", (chunk: string) => out += chunk)
  child.stderr.setEncoding("utf8").on("data", (chunk: string) => err += chunk)
  await once(child, "exit")
  if (child.exitCode !== 0) throw new Error(`radosgw.sh ${args.join(" ")}: ${err}`)
  return out
}

export class Gateway {
  readonly s3: RealS3
  readonly version: string

  private constructor(s3: RealS3, version: string) {
    this.s3 = s3
    this.version = version
  }

  /** Starts it; it is stopped, and its objects are gone, with the run. */
  static async open(run: Run): Promise<Gateway> {
    run.progress("starting a real S3 server with scripts/radosgw.sh")
    run.atEnd(async () => {
      await script("stop")
    })
    const lines = (await script("start")).trim().split("\n")
    const values = Object.fromEntries(lines.map((line) => line.split("=", 2)))
    const s3 = realS3(values)
    if (s3 === undefined) throw new Error("radosgw.sh names no server")
    const version = values["RGW_VERSION"] ?? "?"
    run.progress(`real S3 server: Ceph ${version} at ${s3.endpoint}`)
    return new Gateway(s3, version)
  }

  /** SIGKILL; connections are refused from now on. */
  kill = async (): Promise<void> => {
    await script("kill", "rgw")
  }

  /** SIGSTOP; connections are taken and nothing is ever answered. */
  freeze = async (): Promise<void> => {
    await script("freeze", "rgw")
  }

  /** SIGCONT: what was received meanwhile is worked off. */
  thaw = async (): Promise<void> => {
    await script("thaw", "rgw")
  }

  /** Starts a killed one; what is stored is still there. */
  restart = async (): Promise<void> => {
    await script("start")
  }
}
