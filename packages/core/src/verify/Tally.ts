/** Exact counts of everything that a verification tells, whoever listens. */
import type { DamagedSlots } from "../format/ManifestCodec.ts"
import type { Finding, FindingKind, VerifyProgress } from "./Finding.ts"
import { isKnownDamage } from "./LogMap.ts"
import type { WalkStep } from "./SegmentWalk.ts"

/** Slots between two reports of progress. */
const progressEvery = 100

export class Tally {
  segments = 0
  segmentsTotal = 0
  records = 0
  bytes = 0
  newFindings = 0
  knownFindings = 0
  private readonly kinds = new Map<FindingKind, number>()
  private readonly damage: ReadonlyArray<DamagedSlots>

  /** `damage` is what a repair has recorded. */
  constructor(damage: ReadonlyArray<DamagedSlots>) {
    this.damage = damage
  }

  get byKind(): Readonly<Partial<Record<FindingKind, number>>> {
    return Object.fromEntries(this.kinds)
  }

  /** Counts a finding; answers it with what is known of it. */
  found(finding: Finding): Finding {
    const { epoch, slot } = finding
    const known = epoch !== undefined && slot !== undefined && isKnownDamage(this.damage, { epoch, slot })
    if (known) this.knownFindings++
    else this.newFindings++
    this.kinds.set(finding.kind, (this.kinds.get(finding.kind) ?? 0) + 1)
    return { ...finding, known }
  }

  get progress(): VerifyProgress {
    const { bytes, records, segments } = this
    return { _tag: "Progress", segments, segmentsTotal: Math.max(this.segmentsTotal, segments), records, bytes }
  }

  /** Counts a step of the walk; answers what is told of it. */
  step(step: WalkStep): ReadonlyArray<Finding | VerifyProgress> {
    if (step._tag === "Finding") return [this.found(step)]
    if (step._tag !== "Checked") return []
    this.segments++
    this.records += step.records
    this.bytes += step.bytes
    return this.segments % progressEvery === 0 ? [this.progress] : []
  }
}
