/** Ways through the model in words. */
import { Field, Held, none, Own, type State } from "./Layout.ts"
import type { Visited } from "./Search.ts"
import { Kind, partsOf, type StepParts } from "./Step.ts"

const nameOf = (process: number): string => String.fromCharCode(65 + process)

const texts: Readonly<Record<number, (parts: StepParts) => string>> = {
  [Kind.start]: ({ x }) =>
    x === 1 ? "starts, and reads what the spool holds of the live epoch" : "starts, and reads the manifest",
  [Kind.crash]: () => "crashes",
  [Kind.claim]: ({ x }) => `claims the manifest: epoch ${x}`,
  [Kind.earlyList]: ({ x }) => `lists the live epoch, claim under way: slot ${x} is free`,
  [Kind.ghostClaim]: ({ x }) => `a claim that it knows nothing of lands: epoch ${x}`,
  [Kind.reread]: ({ x }) => x === 1 ? "reads the manifest again: it is another writer's" : "reads the manifest again",
  [Kind.look]: ({ x, y }) =>
    x === none
      ? "looks for the end, and refuses"
      : `looks for the end: ${y === 1 ? `a marker stands at slot ${x}` : `slot ${x} is free, and it sends a marker`}`,
  [Kind.markerLands]: ({ x, y }) => `an end marker lands: epoch ${x}, slot ${y}`,
  [Kind.markerAnswer]: ({ x, y }) =>
    y === 1 ? `its epoch to end ends at slot ${x}` : `slot ${x} was taken by the writer`,
  [Kind.barrier]: ({ x, y }) => `its barrier at slot ${x} ${y === 1 ? "stands" : "came too late"}`,
  [Kind.activate]: () => "activates its epoch",
  [Kind.ghostActivate]: () => "an activation that it knows nothing of lands",
  [Kind.send]: ({ x, y }) => `sends slot ${x}${y === 0 ? "" : `, call ${y}`}`,
  [Kind.segmentLands]: ({ x }) => `slot ${x} lands`,
  [Kind.confirm]: ({ x }) => `slot ${x} is confirmed`,
  [Kind.meetMarker]: ({ x }) => `finds an end marker at slot ${x}: fenced`,
  [Kind.tryCommit]: () => "sends a commit of the manifest",
  [Kind.retryCommit]: () => "hears nothing, and sends a newer commit",
  [Kind.commit]: ({ x, y }) => `the commit is stored: cursor ${x}, checkpoint ${y}`,
  [Kind.ghostCommit]: ({ x, y }) => `the commit lands, and no answer comes: cursor ${x}, checkpoint ${y}`,
  [Kind.ghostOldCommit]: ({ x, y }) => `an earlier commit lands, and no answer comes: cursor ${x}, checkpoint ${y}`,
  [Kind.consume]: ({ x }) => `its consumer commits record ${x}`,
  [Kind.remove]: ({ x, y }) => `epoch ${x}, slot ${y}, is deleted`,
  [Kind.append]: ({ x, y }) => `slot ${x} goes to the spool${y === 0 ? "" : `, call ${y}`}`,
  [Kind.spool]: ({ x }) => `slot ${x}, which was sent, goes to the spool`,
  [Kind.dropSpooled]: () => "lets go of spooled slots",
  [Kind.resend]: ({ x, y }) => `sends slot ${y} of epoch ${x} from the spool`,
  [Kind.resent]: () => "has stored what the spool holds of the live epoch, and reads the manifest",
  [Kind.assume]: () => "takes its write of the manifest for done, without an answer"
}

const nobody: ReadonlySet<number> = new Set<number>([Kind.markerLands, Kind.remove])

/** One step in words. */
export const describeStep = (step: number): string => {
  const parts = partsOf(step)
  const text = texts[parts.kind]?.(parts) ?? "?"
  return nobody.has(parts.kind) ? text : `${nameOf(parts.process)}: ${text}`
}

const heldText = (state: State, epoch: number, slot: number): string => {
  const held = state.held(epoch, slot)
  const coming = state.isMarkerUnderWay(epoch, slot) ? "?" : ""
  if (held >= Held.data) return nameOf(held - Held.data).toLowerCase() + coming
  return (["-", "|", "x", "X"][held] ?? "-") + coming
}

/** The store and the manifest in one line. `a`: a segment of A, `|`: a marker, `x`: deleted, `X`: a marker after that, `?`: a marker comes. */
export const describeState = (state: State): string => {
  const { epochs } = state.layout.bound
  const { keys } = state.layout
  const columns: Array<string> = []
  for (let epoch = 1; epoch <= epochs; epoch++) {
    const slots = Array.from({ length: keys }, (_, slot) => heldText(state, epoch, slot)).join("")
    const end = state.end(epoch)
    const spool = state.layout.given === Own.sent || state.spoolHigh(epoch) === 0
      ? ""
      : ` spool ${state.spoolLow(epoch)}..${state.spoolHigh(epoch)}`
    columns.push(`${epoch}:${slots}${end === none ? "" : ` end ${end}`}${spool}`)
  }
  const trim = `${state.get(Field.trimEpoch)}/${state.get(Field.trimSlot)}`
  const manifest = `epoch ${state.get(Field.epoch)} live ${state.get(Field.live)} trim ${trim} cursor ${
    state.get(Field.cursor)
  } checkpoint ${state.get(Field.checkpoint)}`
  return `[${columns.join("  ")}] ${manifest}`
}

/** A way as lines: each step, and what the store holds after it. */
export const describeWay = (way: ReadonlyArray<Visited>): ReadonlyArray<string> =>
  way.flatMap(({ state, step }, index) =>
    step === undefined
      ? []
      : [`${String(index).padStart(3)}. ${describeStep(step).padEnd(64)} ${describeState(state)}`]
  )
