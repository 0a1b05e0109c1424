/** Where a run finds this repository, its programs and a folder of its own. */
import { spawnSync } from "node:child_process"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { type RealS3, realS3 } from "../../packages/testing/src/RealS3.ts"
import type { Run } from "./Run.ts"

/** The root of the repository. */
export const root = join(import.meta.dirname, "..", "..")

/** The program of the server. */
export const serverMain = join(root, "packages", "server", "src", "main.ts")

/** A fresh folder that is gone with the run; among the temporary files, or where it is asked for. */
export const workFolder = (run: Run, parent = tmpdir()): string => {
  const folder = mkdtempSync(join(parent, `effect-wal-${run.name}-`))
  run.atEnd(() => {
    if (run.ok || run.interrupted) rmSync(folder, { recursive: true, force: true })
    else run.progress(`kept for a look: ${folder}`)
  })
  return folder
}

const radosgw = (action: string) => {
  const done = spawnSync("bash", [join(root, "scripts", "radosgw.sh"), action], { encoding: "utf8" })
  return { ok: done.status === 0, out: done.stdout, err: done.stderr }
}

/**
 * The real S3 server: the one that the environment names, else the one of `scripts/radosgw.sh` (`RGW_DIR`, `RGW_PORT`),
 * which is started where it does not run, and stopped at the end by whoever started it.
 */
export const findRealS3 = (run: Run): RealS3 => {
  const named = realS3(process.env)
  if (named !== undefined) return named
  if (!radosgw("status").ok) {
    run.progress("starting a real S3 server with scripts/radosgw.sh")
    run.atEnd(() => {
      radosgw("stop")
    })
  }
  const started = radosgw("start")
  const environment = Object.fromEntries(started.out.trim().split("\n").map((line) => line.split("=", 2)))
  const found = started.ok ? realS3(environment) : undefined
  if (found === undefined) throw new Error(`no real S3 server: ${started.err}`)
  run.progress(`real S3 server: Ceph ${environment["RGW_VERSION"] ?? "?"} at ${found.endpoint}`)
  return found
}
