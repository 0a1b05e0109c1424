/** `pnpm acceptance <name>`: one of the long runs against real processes and a real S3 server. */
import { fullDisk } from "./full-disk.ts"
import { killNine } from "./kill-nine.ts"
import { mainJob } from "./main-job.ts"
import { outage } from "./outage.ts"
import { preallocation } from "./preallocation.ts"
import { requests } from "./requests.ts"
import { Run, type Scenario } from "./Run.ts"
import { soak } from "./soak.ts"
import { spool } from "./spool.ts"
import { syncs } from "./syncs.ts"
import { takeovers } from "./takeovers.ts"
import { virtualOutage } from "./virtual-outage.ts"

const scenarios: Readonly<Record<string, Scenario>> = {
  "main-job": mainJob,
  "kill-nine": killNine,
  "full-disk": fullDisk,
  takeovers,
  requests,
  syncs,
  preallocation,
  spool,
  outage,
  soak,
  "virtual-outage": virtualOutage
}

const usage = `usage: pnpm acceptance <name> [options], or pnpm acceptance <name> --help

${Object.values(scenarios).map(({ help }) => `  ${help.split("\n", 1)[0]}`).join("\n")}

Each prints progress lines and ends with one line of JSON; the exit code is 0 when every promise was kept, 1 when one
was broken, 2 for an unknown name. The S3 server is the one that S3_ENDPOINT, AWS_ACCESS_KEY_ID,
AWS_SECRET_ACCESS_KEY and S3_BUCKET name; without them scripts/radosgw.sh (RGW_DIR, RGW_PORT) runs one.`

const [name = "", ...args] = process.argv.slice(2).filter((word) => word !== "--")
const chosen = Object.hasOwn(scenarios, name) ? scenarios[name] : undefined
if (chosen === undefined) {
  const asked = name === "--help" || name === "help"
  process.stdout.write(`${usage}\n`)
  process.exitCode = asked ? 0 : 2
} else if (args.includes("--help")) {
  process.stdout.write(`${chosen.help}\n`)
} else {
  const { limitSeconds, scenario } = chosen
  const run = new Run(name)
  const limit = typeof limitSeconds === "number" ? limitSeconds : limitSeconds(args)
  process.exit(await run.finish(() => scenario(run, args), limit))
}
