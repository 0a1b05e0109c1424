/** Prints the branches of the protocol with their counts. */
import { type Branch, branchId } from "./Branch.ts"
import type { BranchCounts } from "./BranchCount.ts"
import { absentBranches, branches } from "./Branches.ts"

const whereOf = ({ count }: Branch): string => typeof count === "string" ? "answer of the store" : count.file

const lineOf = (branch: Branch, count: number): string => {
  const needs = branch.needs === undefined ? "" : `   [${branch.needs}]`
  return `${count.toString().padStart(12)}  ${branch.branch}${needs}`
}

/** One line a branch, by section and file, and what the design names and the code has no branch for. */
export const branchTable = (counts: BranchCounts): string => {
  const lines: Array<string> = []
  let head = ""
  for (const branch of branches) {
    const own = `${branch.section}  ${whereOf(branch)}`
    if (own !== head) lines.push(own)
    head = own
    lines.push(lineOf(branch, counts[branchId(branch)] ?? 0))
  }
  lines.push("no branch in the code")
  for (const { branch, section, why } of absentBranches) lines.push(`${"-".padStart(12)}  ${section} ${branch}: ${why}`)
  return `${lines.join("\n")}\n`
}
