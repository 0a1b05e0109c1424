/**
 * Steps of the network and the store: requests that land, and deletions.
 *
 * A segment that was sent can land at any later time, any number of times: retries, hedges and copies that nobody waits for
 * any more are the same. So no number of requests in flight has to be kept: that a slot was sent says it all.
 */
import { Field, Held, none, Own, type State } from "./Layout.ts"
import { Kind, type Scene } from "./Step.ts"
import { isMarker } from "./View.ts"

const canDelete = (scene: Scene): boolean => scene.layout.bound.consumes || scene.layout.bound.sweeps

/** Copies of a process's segments land where nothing stands. */
export const landingSteps = (scene: Scene, process: number): void => {
  const { now } = scene
  const epoch = now.of(process, Own.epoch)
  const sent = now.of(process, Own.sent)
  for (let slot = 0; slot < sent; slot++) {
    const held = now.held(epoch, slot)
    if (held !== Held.nothing && held !== Held.deleted) continue
    // A marker that is refused here can land only once the segment is deleted.
    const matters = canDelete(scene) || !scene.rules["marker-is-created-only"]
    const stays = matters && now.isMarkerUnderWay(epoch, slot)
    scene.begin().setKey(epoch, slot, Held.data + process, stays)
    scene.tell(Kind.segmentLands, process, slot)
  }
}

const markerLands = (scene: Scene, epoch: number, slot: number): void => {
  const held = scene.now.held(epoch, slot)
  const isFree = held === Held.nothing || held === Held.deleted
  if (!isFree && (scene.rules["marker-is-created-only"] || held < Held.data)) return
  const next = scene.begin()
  next.setKey(epoch, slot, held === Held.deleted ? Held.markerAfterDeletion : Held.marker, false)
  scene.tell(Kind.markerLands, 0, epoch, slot)
}

/** Slots of an epoch that lie below what some writer knows to be trimmed. */
const trimmedSlots = (now: State, epoch: number): number => {
  const trimEpoch = now.get(Field.gcEpoch)
  if (epoch > trimEpoch) return 0
  if (epoch === trimEpoch) return now.get(Field.gcSlot)
  const end = now.end(epoch)
  return end === none ? 0 : end
}

const isGarbage = (scene: Scene, epoch: number, slot: number): boolean => {
  const { now } = scene
  const held = now.held(epoch, slot)
  const trimmed = scene.layout.bound.consumes ? trimmedSlots(now, epoch) : 0
  // Below the trim point keys are deleted by their numbers, whatever is there.
  if (slot < trimmed) return held >= Held.data || held === Held.markerAfterDeletion
  const end = now.end(epoch)
  if (scene.layout.bound.sweeps && end !== none && slot > end) return held >= Held.data
  return !scene.rules["marker-stays"] && isMarker(held) && slot === end && epoch < now.get(Field.gcEpoch)
}

/** Steps that belong to nobody: markers that land, and what may be deleted. */
export const storeSteps = (scene: Scene): void => {
  const { layout, now } = scene
  for (let epoch = 1; epoch <= layout.bound.epochs; epoch++) {
    for (let slot = 0; slot < layout.keys; slot++) {
      if (now.isMarkerUnderWay(epoch, slot)) markerLands(scene, epoch, slot)
      if (!canDelete(scene) || !isGarbage(scene, epoch, slot)) continue
      const isMarkerGone = now.held(epoch, slot) === Held.marker
      scene.begin().setKey(
        epoch,
        slot,
        isMarkerGone ? Held.nothing : Held.deleted,
        now.isMarkerUnderWay(epoch, slot)
      )
      scene.tell(Kind.remove, 0, epoch, slot)
    }
  }
}
