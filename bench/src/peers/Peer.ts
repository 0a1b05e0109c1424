/** What a user would pick instead of a local log. */

export interface Peer {
  readonly name: string
  /** It answers only what is on the disk. One that does not is measured, and no goal is held against it. */
  readonly isDurable: boolean
  /** What has to be said with a figure of it. */
  readonly note?: string
  /**
   * Opens it with its files in a folder that is empty, with the settings that make each answer durable where it has them.
   * Fails where its package or its program is missing.
   */
  readonly open: (folder: string) => Promise<OpenPeer>
}

export interface OpenPeer {
  /** Done when the records are durable, as far as the peer promises that. */
  readonly appendDurable: (records: ReadonlyArray<Uint8Array>) => Promise<unknown>
  /** Ends it, with its processes. */
  readonly close: () => Promise<void>
}
