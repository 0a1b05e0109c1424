/** An answer as a page shows it against the one that came. */

/** What differs from run to run; only its kind is compared. */
const varying = new Set(["appended_at", "timestamp", "log_id", "oldest_age_ms", "node_id", "at", "millis", "version"])

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** Where they differ, as paths with both values; empty where they are alike. */
export const differences = (shown: unknown, came: unknown, path = ""): ReadonlyArray<string> => {
  if (Array.isArray(shown) && Array.isArray(came)) {
    return shown.length === came.length
      ? shown.flatMap((value, index) => differences(value, came[index], `${path}[${index}]`))
      : [`${path || "the answer"} has ${came.length} elements, not ${shown.length}`]
  }
  if (isObject(shown) && isObject(came)) {
    const keys = new Set([...Object.keys(shown), ...Object.keys(came)])
    return [...keys].flatMap((key) => {
      const at = path === "" ? key : `${path}.${key}`
      if (!(key in came)) return [`${at} is not in the answer`]
      if (!(key in shown)) return [`${at} is not on the page`]
      return varying.has(key) && typeof shown[key] === typeof came[key] ? [] : differences(shown[key], came[key], at)
    })
  }
  return Object.is(shown, came)
    ? []
    : [`${path || "the answer"} is ${JSON.stringify(came)}, not ${JSON.stringify(shown)}`]
}
