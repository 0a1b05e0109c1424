/** Numbers with a unit in a text, and the headings of a page: what `README.md` may not say without a claim. */

const fences = /^```[\s\S]*?^```/gm

/** What a script writes between two comments is held by the test of that script. */
const written = /^<!-- [a-z]+: written by [\s\S]*?^<!-- end -->/gm

/** A number and what it counts. Dates, versions and ports have no unit, and are no claims. */
const withUnit =
  /\$?\d[\d,.]*\s?(?:%|×|µs|μs|ms|s|m|h|d|minutes?|seconds?|hours?|days?|[kKMGT]i?B|bytes|records|requests|round trips|times|PUTs?|streams?|workers?|tests?|walks?|states?)(?![A-Za-z0-9])|\$\d[\d,.]*/g

/** What stands in the text, each once, without code blocks and without what is written by a script. */
export const numbersIn = (text: string): ReadonlyArray<string> => [
  ...new Set(
    [...text.replaceAll(fences, "").replaceAll(written, "").matchAll(withUnit)].map(([found]) =>
      found.replace(/[.,]$/, "")
    )
  )
]

/** The text of each heading above the fourth level. */
export const headingsIn = (text: string): ReadonlyArray<string> =>
  [...text.replaceAll(fences, "").matchAll(/^#{1,3} (.+)$/gm)].map(([, heading = ""]) => heading.replaceAll("`", ""))

/** Targets of links, as they are written. */
export const linksIn = (text: string): ReadonlyArray<string> =>
  [...text.matchAll(/\]\(([^()\s]+)\)/g)].map(([, target = ""]) => target)
