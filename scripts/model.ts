/** `pnpm model`: explores the model of the protocol completely, within the bounds that are named. See docs/model.md. */
import { parseArgs } from "node:util"
import type { Bound } from "../packages/testing/src/model/Bound.ts"
import { unlimited } from "../packages/testing/src/model/Bound.ts"
import { largeBounds, smallBounds } from "../packages/testing/src/model/Bounds.ts"
import { describeWay } from "../packages/testing/src/model/Describe.ts"
import { findStuck } from "../packages/testing/src/model/Progress.ts"
import { type RuleName, ruleNames, rulesWithout, ruleTable } from "../packages/testing/src/model/Rules.ts"
import { explore, type Explored, wayTo } from "../packages/testing/src/model/Search.ts"

const allBounds = [...smallBounds, ...largeBounds]

/** A search that would take more states is cut, and says so. */
const mostStates = 60_000_000

/** Whether the log can always go on is asked of graphs up to this size. */
const mostStatesOfProgress = 1_000_000

const usage = `usage: pnpm model [options]

Explores every state of the model of the protocol within a bound, and checks the promises in each. One line a bound:
states, steps between them, depth, seconds, broken promises.

  --bound NAME   only this bound; may be given several times   (default: the small ones)
  --full         the small and the large bounds: some minutes
  --rule NAME    with this rule dropped, in the bound that misses it soonest, or in those that --bound names
  --rules        each rule dropped in turn: every one must be missed
  --trace        shows a shortest way to what is broken
  --json         lines of JSON
  --help         this text

exit status: 0 all promises held (with --rule, --rules: every dropped rule was missed), 1 not, 2 bad options

bounds
${allBounds.map(({ about, name }) => `  ${name.padEnd(20)} ${about}`).join("\n")}

rules
${ruleNames.map((name) => `  ${name.padEnd(32)} ${ruleTable[name].says}`).join("\n")}
`

interface Options {
  readonly bounds: ReadonlyArray<Bound> | undefined
  readonly rules: ReadonlyArray<RuleName>
  readonly trace: boolean
  readonly json: boolean
}

const nowSeconds = (): number => Number(process.hrtime.bigint() / 1_000_000n) / 1_000

const print = (text: string): void => {
  process.stdout.write(`${text}\n`)
}

const boundNamed = (name: string): Bound => {
  const bound = allBounds.find((one) => one.name === name)
  if (bound === undefined) throw new TypeError(`--bound ${name}: must be one of those that --help lists`)
  return bound
}

const ruleNamed = (name: string): RuleName => {
  const rule = ruleNames.find((one) => one === name)
  if (rule === undefined) throw new TypeError(`--rule ${name}: must be one of those that --help lists`)
  return rule
}

const flag = { type: "boolean", default: false } as const

/** Answers what the command line asks for; `undefined`: for help. Throws `TypeError` for what it does not understand. */
const readOptions = (args: ReadonlyArray<string>): Options | undefined => {
  const { values } = parseArgs({
    args: args.filter((word) => word !== "--"),
    options: {
      bound: { type: "string", multiple: true },
      rule: { type: "string", multiple: true },
      full: flag,
      rules: flag,
      trace: flag,
      json: flag,
      help: flag
    }
  })
  if (values.help) return undefined
  if (values.full && values.bound !== undefined) throw new TypeError("--full: not together with --bound")
  if (values.rules && values.rule !== undefined) throw new TypeError("--rules: not together with --rule")
  const named = values.full ? allBounds : values.bound?.map(boundNamed)
  const rules = values.rules ? ruleNames : (values.rule ?? []).map(ruleNamed)
  return { bounds: named, rules, trace: values.trace, json: values.json }
}

const search = (bound: Bound, rule: RuleName | undefined): { explored: Explored; seconds: number } => {
  const startedAt = nowSeconds()
  const explored = explore(bound, rulesWithout(rule), {
    mostStates,
    onProgress: (states, depth) => {
      const seconds = nowSeconds() - startedAt
      const rate = Math.round(states / seconds)
      process.stderr.write(
        `${bound.name}: ${states} states, depth ${depth}, ${seconds.toFixed(0)} s, ${rate} states/s\n`
      )
    }
  })
  return { explored, seconds: Math.round((nowSeconds() - startedAt) * 100) / 100 }
}

/** Whether every state can go on; `undefined` where it is not asked: calls and records that are used up end every way. */
const progressOf = (explored: Explored): boolean | undefined => {
  const { calls, records } = explored.layout.bound
  if (calls > 0 || records < unlimited || explored.states.size > mostStatesOfProgress || explored.isCut) {
    return undefined
  }
  return explored.violation === undefined ? findStuck(explored) === undefined : undefined
}

const showWay = (explored: Explored, options: Options): void => {
  if (!options.trace || explored.violation === undefined) return
  for (const line of describeWay(wayTo(explored, explored.violation.state))) print(`  ${line}`)
}

/** All rules in force. Answers whether all promises held, everywhere. */
const exploreBound = (bound: Bound, options: Options): boolean => {
  const { explored, seconds } = search(bound, undefined)
  const { depth, isCut, states, transitions, violation } = explored
  const goesOn = progressOf(explored)
  const violations = (violation === undefined ? 0 : 1) + (goesOn === false ? 1 : 0)
  const line = { bound: bound.name, states: states.size, transitions, depth, seconds, violations }
  if (options.json) {
    const found = violation === undefined ? {} : { broken: violation.text }
    print(JSON.stringify({ ...line, complete: !isCut, ...(goesOn === undefined ? {} : { goesOn }), ...found }))
  } else {
    const name = bound.name.padEnd(20)
    const numbers = `${states.size} states, ${transitions} steps, depth ${depth}, ${seconds.toFixed(1)} s`
    const cut = isCut ? ", NOT COMPLETE" : ""
    const progress = goesOn === undefined ? "" : goesOn ? ", can always go on" : ", CANNOT ALWAYS GO ON"
    print(`${name} ${numbers}${cut}, ${violation === undefined ? "0 violations" : violation.text}${progress}`)
  }
  showWay(explored, options)
  return violations === 0 && !isCut
}

/** One rule dropped. Answers whether that was missed. */
const dropRule = (rule: RuleName, options: Options): boolean => {
  for (const bound of options.bounds ?? [boundNamed(ruleTable[rule].bound)]) {
    const { explored, seconds } = search(bound, rule)
    const { states, violation } = explored
    if (violation === undefined) continue
    const steps = wayTo(explored, violation.state).length - 1
    if (options.json) {
      const also = ruleTable[rule].with
      const dropped = also === undefined ? { rule } : { rule, with: also }
      const found = { ...dropped, bound: bound.name, states: states.size, steps, seconds, broken: violation.text }
      print(JSON.stringify(found))
    } else {
      print(`${rule.padEnd(32)} ${bound.name}, after ${states.size} states, in ${steps} steps: ${violation.text}`)
    }
    showWay(explored, options)
    return true
  }
  print(options.json ? JSON.stringify({ rule, broken: null }) : `${rule.padEnd(32)} NOT MISSED`)
  return false
}

const run = (options: Options): boolean => {
  if (options.rules.length > 0) return options.rules.map((rule) => dropRule(rule, options)).every(Boolean)
  return (options.bounds ?? smallBounds).map((bound) => exploreBound(bound, options)).every(Boolean)
}

try {
  const options = readOptions(process.argv.slice(2))
  if (options === undefined) process.stdout.write(usage)
  else process.exitCode = run(options) ? 0 : 1
} catch (error) {
  if (!(error instanceof TypeError)) throw error
  process.stderr.write(`${error.message}\n`)
  process.exitCode = 2
}
