/** The version of this program; a test compares it with the package. */
export const version = "0.1.0"
