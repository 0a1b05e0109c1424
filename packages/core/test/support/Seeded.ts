/** Numbers from 0 up to 1 that are the same for the same seed, for rules that are not effects. */
export const makeRandom = (seed: number) => {
  let state = seed * 2_654_435_761 >>> 0
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
}
