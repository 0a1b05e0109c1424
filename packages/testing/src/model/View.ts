/** What follows from a state: who wrote an epoch, where a number stands, what an epoch's end is. Pure. */
import { Field, Held, none, Own, Phase, type State } from "./Layout.ts"

export const isDead = (phase: number): boolean => phase >= Phase.dead

/** It writes, or has written. */
export const isWriter = (phase: number): boolean => phase === Phase.active || phase === Phase.fenced

/** The process whose epoch this is; -1: nobody's that could have been live. */
export const writerOf = (state: State, epoch: number): number => {
  if (epoch === 0) return -1
  const { processes } = state.layout.bound
  for (let process = 0; process < processes.length; process++) {
    if (state.of(process, Own.epoch) === epoch) return process
  }
  return -1
}

/** The last number before an epoch. */
export const baseOf = (state: State, epoch: number): number => {
  const writer = writerOf(state, epoch)
  return writer < 0 ? 0 : state.of(writer, Own.base)
}

/** The place of a slot among all slots, from 1; ascends with epoch and slot. */
export const placeOf = (state: State, epoch: number, slot: number): number =>
  (epoch - 1) * state.layout.bound.slots + slot + 1

/** Whether point `left` lies before point `right`. */
export const isBefore = (leftEpoch: number, leftSlot: number, rightEpoch: number, rightSlot: number): boolean =>
  leftEpoch < rightEpoch || leftEpoch === rightEpoch && leftSlot < rightSlot

/** Something stands at the key. */
export const isTaken = (held: number): boolean => held !== Held.nothing && held !== Held.deleted

export const isMarker = (held: number): boolean => held === Held.marker || held === Held.markerAfterDeletion

/** A copy of the segment was stored there at some time. */
export const wasStored = (held: number, writer: number): boolean =>
  held === Held.data + writer || held === Held.deleted || held === Held.markerAfterDeletion

/** The slots of a process's epoch that count as durable: acknowledged, or below the recorded end. */
export const durableSlots = (state: State, process: number): number => {
  const epoch = state.of(process, Own.epoch)
  if (epoch === 0) return 0
  const acks = state.of(process, Own.acks)
  const end = state.end(epoch)
  return end === none ? acks : Math.max(acks, end)
}

/** The end of an epoch that the manifest still tells: those at or below the trim point are forgotten, those at 0 never kept. */
export const recordedEnd = (state: State, epoch: number): number => {
  const end = state.end(epoch)
  if (end === none || end === 0) return none
  return isBefore(state.get(Field.trimEpoch), state.get(Field.trimSlot), epoch, end) ? end : none
}

/** The lowest marker of an epoch; `none` where none stands. */
export const lowestMarker = (state: State, epoch: number): number => {
  for (let slot = 0; slot < state.layout.keys; slot++) if (isMarker(state.held(epoch, slot))) return slot
  return none
}

/** The slot of the live epoch below which the manifest says that everything is durable or trimmed. */
export const searchStart = (state: State): number => {
  const trimSlot = state.get(Field.trimEpoch) === state.get(Field.live) ? state.get(Field.trimSlot) : 0
  return Math.max(state.get(Field.checkpoint), trimSlot)
}

/** A point between two slots. */
export interface Point {
  epoch: number
  slot: number
}

/** Writes the last point with nothing above number `seq` before it, as a writer sees it, to `to`. */
export const pointAfter = (state: State, process: number, seq: number, to: Point): void => {
  const own = state.of(process, Own.epoch)
  for (let epoch = own; epoch >= 1; epoch--) {
    const end = state.end(epoch)
    if (epoch !== own && (end === none || end === 0)) continue
    const base = baseOf(state, epoch)
    if (base > seq) continue
    to.epoch = epoch
    to.slot = seq - base
    return
  }
  to.epoch = state.get(Field.trimEpoch)
  to.slot = state.get(Field.trimSlot)
}
