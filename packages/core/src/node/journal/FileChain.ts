/**
 * Which of the files in a directory make up the journal. Each header names the file before it; a file that no header names
 * although a later one is there was left by an attempt that failed, or held nothing when the next one was made.
 */
import type { FileHeader, PreviousFile } from "./JournalFile.ts"

export interface FoundFile {
  readonly number: number
  /** Absent when it is damaged. */
  readonly header: FileHeader | undefined
}

export interface ChainedFile<F extends FoundFile> {
  readonly file: F
  /** What the file after it says; absent for the last one, and where that file is lost or its header damaged. */
  readonly closed: PreviousFile | undefined
}

export interface FileChain<F extends FoundFile> {
  /** Ascending. */
  readonly files: ReadonlyArray<ChainedFile<F>>
  /** They hold nothing that counts. */
  readonly superseded: ReadonlyArray<F>
  /** What was lost, for the log. */
  readonly problems: ReadonlyArray<string>
}

/** Follows the headers from the last file to the first. `found` is ascending. */
export const chainFiles = <F extends FoundFile>(found: ReadonlyArray<F>): FileChain<F> => {
  const files: Array<ChainedFile<F>> = []
  const superseded: Array<F> = []
  const problems: Array<string> = []
  const rest = [...found]
  let closed: PreviousFile | undefined = undefined
  for (let file = rest.pop(); file !== undefined; file = rest.pop()) {
    files.unshift({ file, closed })
    closed = undefined
    if (file.header === undefined) {
      problems.push(`the header of file ${file.number} is damaged`)
      continue
    }
    const previous: PreviousFile | undefined = file.header.previous
    while ((rest.at(-1)?.number ?? 0) > (previous?.number ?? 0)) superseded.push(...rest.splice(-1))
    if (rest.length === 0 || previous === undefined) break
    if (rest.at(-1)?.number === previous.number) closed = previous
    else problems.push(`file ${previous.number} is missing although older ones are there`)
  }
  return { files, superseded, problems }
}
