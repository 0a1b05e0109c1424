/** The number that an option of a command gives. Throws an error whose message is for the user. */
export const wholeOption = (name: string, text: string, least: number): number => {
  const value = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN
  if (value >= least) return value
  throw new Error(`--${name} must be a whole number of ${least} or more, found ${JSON.stringify(text)}`)
}
