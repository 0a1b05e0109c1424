/** The keys of a log's objects, and what a listed key is. */

/** Digits of an epoch and of a slot in a key: zero-padded, so that the store's order is the log's. */
const epochDigits = 10
const slotDigits = 12

export const manifestKey = (prefix: string): string => `${prefix}manifest.json`

/** Where all segments and end markers are. */
export const segmentsPrefix = (prefix: string): string => `${prefix}segments/`

export const epochPrefix = (prefix: string, epoch: number): string =>
  `${segmentsPrefix(prefix)}${String(epoch).padStart(epochDigits, "0")}/`

/** The key of a slot: a segment, or the end marker of its epoch. */
export const slotKey = (prefix: string, epoch: number, slot: number): string =>
  `${epochPrefix(prefix, epoch)}${String(slot).padStart(slotDigits, "0")}.seg`

/** How the keys of all slots start that differ from this one in the last `digits` digits only. */
export const slotsPrefix = (prefix: string, place: SlotName, digits: number): string =>
  epochPrefix(prefix, place.epoch) + String(place.slot).padStart(slotDigits, "0").slice(0, slotDigits - digits)

/** After this key a listing starts with the slot, or with what follows where the slot is not stored. */
export const keyBefore = (prefix: string, place: SlotName): string =>
  place.slot === 0 ? epochPrefix(prefix, place.epoch) : slotKey(prefix, place.epoch, place.slot - 1)

/** The throw-away object of one store probe. */
export const probeKey = (prefix: string, nonce: string, part: string): string => `${prefix}probe/${nonce}-${part}`

export interface SlotName {
  readonly epoch: number
  readonly slot: number
}

const pattern = new RegExp(`^(\\d{${epochDigits}})/(\\d{${slotDigits}})\\.seg$`)

/** What slot a key names; `undefined` for a key that is not ours. */
export const parseSlotKey = (prefix: string, key: string): SlotName | undefined => {
  const start = segmentsPrefix(prefix)
  if (!key.startsWith(start)) return undefined
  const match = pattern.exec(key.slice(start.length))
  return match === null ? undefined : { epoch: Number(match[1]), slot: Number(match[2]) }
}
