/** Contenders that take turns, so that what disturbs the machine for a while disturbs them all. */
import { nowMillis } from "../../scripts/acceptance/Run.ts"
import type { BenchContext } from "./Bench.ts"
import type { Named } from "./Line.ts"
import { pairedRatios, type Spread, spreadOf } from "./Stats.ts"

/** What works for about so many milliseconds, and answers what of it is compared: a rate, most often. */
export interface Contender {
  readonly name: string
  readonly unit: string
  readonly round: (millis: number) => number | Promise<number>
}

/** What each contender reached, round by round. */
export class Results {
  private readonly byName: ReadonlyMap<string, ReadonlyArray<number>>
  private readonly units: ReadonlyMap<string, string>

  constructor(contenders: ReadonlyArray<Contender>, byName: ReadonlyMap<string, ReadonlyArray<number>>) {
    this.byName = byName
    this.units = new Map(contenders.map(({ name, unit }) => [name, unit]))
  }

  rounds(name: string): ReadonlyArray<number> {
    const found = this.byName.get(name)
    if (found === undefined) throw new Error(`no contender ${name}`)
    return found
  }

  spread(name: string): Spread {
    return spreadOf(this.rounds(name))
  }

  ratio(ours: string, other: string): Spread {
    return spreadOf(pairedRatios(this.rounds(ours), this.rounds(other)))
  }

  named(name: string): Named {
    return { name, value: this.spread(name).median, unit: this.units.get(name) ?? "" }
  }
}

/** Runs all of them once to warm up, then round by round. */
export const takeTurns = async (
  context: BenchContext,
  contenders: ReadonlyArray<Contender>,
  { from = 0, to = 1 }: { readonly from?: number; readonly to?: number } = {}
): Promise<Results> => {
  const byName = new Map<string, Array<number>>(contenders.map(({ name }) => [name, []]))
  const turns = contenders.length * (context.rounds + 1)
  let turn = 0
  for (let round = 0; round <= context.rounds; round++) {
    for (const { name, round: run } of contenders) {
      context.progress(from + (to - from) * turn++ / turns, name)
      const millis = round === 0 ? context.roundMillis / 2 : context.roundMillis
      const value = round === 0 ? await run(millis) : await context.around(name, () => run(millis))
      if (round > 0) byName.get(name)?.push(value)
    }
  }
  return new Results(contenders, byName)
}

/** How often something synchronous is done a second: in chunks that are long enough for the clock. */
export const ratePerSecond = (millis: number, chunk: () => number): number => {
  const startedAt = nowMillis()
  let done = 0
  let elapsed = 0
  do {
    done += chunk()
    elapsed = nowMillis() - startedAt
  } while (elapsed < millis)
  return done / elapsed * 1_000
}
