/** Numbers, sizes, times and strange text, as people read them. */

const whole = new Intl.NumberFormat("en", { maximumFractionDigits: 0 })
const tenths = new Intl.NumberFormat("en", { maximumFractionDigits: 1 })
const dollarsSmall = new Intl.NumberFormat("en", { minimumFractionDigits: 2, maximumFractionDigits: 2 })
const clock = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit", second: "2-digit" })

/**
 * A count in full: 1,234,567.
 * @param {number} number
 */
export const count = (number) => whole.format(number)

/**
 * Short where it is large: 0.4, 12, 12.3k, 4.5M.
 * @param {number} number
 */
export const short = (number) => {
  if (number >= 1e9) return `${tenths.format(number / 1e9)}G`
  if (number >= 1e6) return `${tenths.format(number / 1e6)}M`
  if (number >= 1e4) return `${tenths.format(number / 1e3)}k`
  return number >= 100 ? whole.format(number) : tenths.format(number)
}

const sizes = ["B", "kB", "MB", "GB", "TB"]

/**
 * A size in powers of 1,000.
 * @param {number} bytes
 */
export const size = (bytes) => {
  let step = 0
  let value = bytes
  while (value >= 1_000 && step < sizes.length - 1) {
    value /= 1_000
    step++
  }
  return `${step === 0 || value >= 100 ? whole.format(value) : tenths.format(value)} ${sizes[step] ?? ""}`
}

/**
 * @param {number} millis
 */
export const duration = (millis) => {
  if (millis < 1_000) return `${whole.format(millis)} ms`
  const seconds = millis / 1_000
  if (seconds < 10) return `${tenths.format(seconds)} s`
  if (seconds < 120) return `${whole.format(seconds)} s`
  const minutes = Math.floor(seconds / 60)
  if (minutes < 120) return `${minutes} min ${Math.floor(seconds % 60)} s`
  const hours = Math.floor(minutes / 60)
  return hours < 48 ? `${hours} h ${minutes % 60} min` : `${Math.floor(hours / 24)} days`
}

/**
 * Milliseconds, for latencies.
 * @param {number} millis
 */
export const millis = (millis) => millis >= 2_000 ? `${tenths.format(millis / 1_000)} s` : `${short(millis)} ms`

/**
 * @param {number} amount
 */
export const dollars = (amount) => {
  if (amount === 0) return "$0"
  if (amount < 0.01) return "< $0.01"
  return amount < 1_000 ? `$${dollarsSmall.format(amount)}` : `$${whole.format(amount)}`
}

/**
 * @param {number} part
 * @param {number} all
 */
export const percent = (part, all) => `${all === 0 ? 0 : tenths.format(part / all * 100)} %`

/**
 * A time of day in the reader's own time zone.
 * @param {number} at epoch milliseconds
 */
export const time = (at) => clock.format(at)

/** What would be invisible or would turn the line around: controls, and marks of the direction of text. */
const unseen = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu

/** Line ends and tabs, and what joins the parts of one picture. */
const harmless = "\n\t\u200d"

/**
 * Text of somebody else, with what cannot be seen as `\u…`.
 * @param {string} text
 */
export const visible = (text) =>
  text.replaceAll(
    unseen,
    (sign) => harmless.includes(sign) ? sign : `\\u${(sign.codePointAt(0) ?? 0).toString(16).padStart(4, "0")}`
  )
