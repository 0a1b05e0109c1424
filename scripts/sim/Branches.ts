/** The branches of the protocol that a run of the simulator has to take: sections 4.1 and 4.2 of the design. */
import type { Branch } from "./Branch.ts"
import { putBranches } from "./PutBranches.ts"
import { takeoverBranches } from "./TakeoverBranches.ts"

export const branches: ReadonlyArray<Branch> = [...putBranches, ...takeoverBranches]

/** What the design names and the code has no branch for, with the reason. Said in the table, so that nothing is left out. */
export const absentBranches: ReadonlyArray<Pick<Branch, "section" | "branch"> & { readonly why: string }> = [
  {
    section: "4.1",
    branch: "412, the slot is confirmed already: ignored",
    why: "one worker sends a slot, and of the two requests of a hedged PUT one is given up with the answer of the other"
  },
  {
    section: "4.2",
    branch: "3. doubling probes where LIST is unordered",
    why: "every page of the listing is read and sorted here, so its order does not matter"
  },
  {
    section: "4.2",
    branch: "next number above the segments below an end, the cursors and the trim point",
    why: "it is the largest of three numbers, no branch"
  }
]
