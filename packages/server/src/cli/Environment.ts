/** The variables of the process, as the configuration substitutes them. */
import type { Environment } from "../config/Substitution.ts"

/** All of them, as they are now. */
export const environment = (): Environment => process.env
