/**
 * What a bucket's settings would do to a log below a prefix, in words for its operator.
 */

/** One rule of a life-cycle configuration, as far as it matters here. */
export interface LifecycleRule {
  readonly id: string | undefined
  readonly enabled: boolean
  /** Keys that it is about; empty: all. */
  readonly prefix: string
  /** It is only about objects with tags or of some size, and the log's objects carry no tags. */
  readonly filteredByTag: boolean
  /** It deletes objects or moves them to another storage class; false for one that only ends uploads. */
  readonly touchesObjects: boolean
}

const covers = (rule: LifecycleRule, prefix: string): boolean =>
  rule.enabled && rule.touchesObjects && !rule.filteredByTag &&
  (prefix.startsWith(rule.prefix) || rule.prefix.startsWith(prefix))

/** A warning for each rule that can delete or move objects below `prefix`. */
export const lifecycleWarnings = (rules: ReadonlyArray<LifecycleRule>, prefix: string): ReadonlyArray<string> =>
  rules.filter((rule) => covers(rule, prefix)).map((rule) =>
    `life-cycle rule ${
      rule.id ?? "without an id"
    } covers ${prefix}: it can delete or move segments that the log still needs`
  )

/** A warning when deletes only hide objects. `status` is the bucket's versioning status. */
export const versioningWarnings = (status: string | undefined): ReadonlyArray<string> =>
  status === "Enabled" ?
    ["the bucket is versioned: deleted and replaced objects stay as old versions, are paid for, and free no space"] :
    []
