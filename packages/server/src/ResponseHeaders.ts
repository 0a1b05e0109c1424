/**
 * What every answer says to browsers and caches, whatever it answers.
 *
 * No answer is kept by anybody, since many are for one token only; none is taken for another type than it names; no page
 * of another site can read one or put it in a frame. There is no header that allows another origin anything.
 */

/** By name. A route that knows better says so itself. */
export const safeHeaders: Readonly<Record<string, string>> = {
  "cache-control": "no-store",
  "x-content-type-options": "nosniff",
  "cross-origin-resource-policy": "same-origin",
  "referrer-policy": "no-referrer"
}
