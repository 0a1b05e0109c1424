/** The rules of the protocol that can be dropped, one at a time: each must then be missed by some bound. */

export const ruleNames = [
  "claim-raises-epoch",
  "early-list-of-same-manifest",
  "send-after-activation",
  "never-merge-another-epoch",
  "time-out-is-not-success",
  "earlier-commit-is-not-this-one",
  "marker-says-nothing-below",
  "acks-in-order",
  "taken-key-is-looked-at",
  "marker-is-created-only",
  "marker-stays",
  "window",
  "barrier",
  "end-is-recorded",
  "numbers-go-on-after-the-end",
  "delete-after-confirmed-trim",
  "trim-below-cursor",
  "cursor-below-durable",
  "checkpoint-below-durable",
  "origin-mark-covers-own-slots",
  "spool-without-holes",
  "spool-drop-when-durable",
  "copies-pin-the-spool",
  "origin-mark",
  "copy-is-not-copied",
  "replay-from-the-end",
  "repeat-is-answered",
  "calls-behind-checkpoint",
  "table-below-durable",
  "known-call-is-not-copied"
] as const

export type RuleName = (typeof ruleNames)[number]

/** A rule: what it says, and the bound in which it is missed soonest. */
export interface RuleEntry {
  readonly says: string
  readonly bound: string
  /** Another rule that says the same in part: only without both is it missed, so that one is dropped with it. */
  readonly with?: RuleName
}

/** All rules. */
export const ruleTable: Readonly<Record<RuleName, RuleEntry>> = {
  "claim-raises-epoch": { says: "a claim raises the epoch", bound: "takeover-ci" },
  "early-list-of-same-manifest": {
    says: "a listing from before the claim counts only where the manifest was not replaced in between",
    bound: "trim-ci"
  },
  "send-after-activation": { says: "no segment is sent before the activation is confirmed", bound: "takeover-ci" },
  "never-merge-another-epoch": { says: "a manifest of another epoch or nonce is never merged with", bound: "trim-ci" },
  "time-out-is-not-success": { says: "a manifest write without an answer is not taken for done", bound: "takeover-ci" },
  "earlier-commit-is-not-this-one": { says: "an earlier commit id of mine is not this one", bound: "trim-ci" },
  "marker-says-nothing-below": { says: "an end marker says nothing about the slots below it", bound: "barrier-ci" },
  "acks-in-order": { says: "slots are acknowledged in order", bound: "takeover-ci" },
  "taken-key-is-looked-at": { says: "a taken key is looked at: mine, or an end marker", bound: "takeover-ci" },
  "marker-is-created-only": { says: "an end marker is created, never written over a segment", bound: "takeover-ci" },
  "marker-stays": { says: "an end marker is never deleted", bound: "trim-ci" },
  window: { says: "no slot is sent more than one window above the first unconfirmed one", bound: "window-ci" },
  barrier: { says: "a busy writer meets a barrier", bound: "busy-ci" },
  "end-is-recorded": { says: "the activation records the end of the epoch before", bound: "takeover-ci" },
  "numbers-go-on-after-the-end": {
    says: "the next number follows the last segment below the end, not the checkpoint",
    bound: "takeover-ci"
  },
  "delete-after-confirmed-trim": {
    says: "nothing is deleted before a manifest with that trim point is known to be stored",
    bound: "trim-ci"
  },
  "trim-below-cursor": { says: "nothing is trimmed above the cursor of the same manifest", bound: "trim-ci" },
  "cursor-below-durable": { says: "nothing is committed that is not durable", bound: "trim-ci" },
  "checkpoint-below-durable": { says: "a checkpoint never lies above what is durable", bound: "checkpoint-ci" },
  "origin-mark-covers-own-slots": {
    says: "the origin mark covers what an ended epoch has stored of its own spool, whatever its markers say later",
    bound: "spool-trim-ci"
  },
  "spool-without-holes": {
    says: "the spool holds every slot from the first that is not durable",
    bound: "spool-window-ci"
  },
  "spool-drop-when-durable": { says: "a spooled slot goes only when the watermark covers it", bound: "spool-ci" },
  "copies-pin-the-spool": {
    says: "what is appended again stays in the spool until its copy is durable",
    bound: "spool-ci"
  },
  "origin-mark": { says: "headers and manifest carry what was appended again", bound: "spool-twice-ci" },
  "copy-is-not-copied": { says: "a spooled copy is not appended again beside its original", bound: "spool-copies" },
  "replay-from-the-end": {
    says: "what lies below the end of its epoch is not appended again",
    bound: "spool-ci",
    with: "origin-mark-covers-own-slots"
  },
  "repeat-is-answered": { says: "a call that is known is answered, not appended", bound: "producers-ci" },
  "calls-behind-checkpoint": {
    says: "an opening reads the calls in the segments behind the checkpoint",
    bound: "producers-ci"
  },
  "table-below-durable": { says: "the manifest holds no call above its checkpoint", bound: "producers-ci" },
  "known-call-is-not-copied": {
    says: "a spooled call that was repeated elsewhere is not appended again",
    bound: "spool-producers-ci"
  }
}

/** Which rules are in force. */
export type Rules = Readonly<Record<RuleName, boolean>>

/** All rules but the one that is dropped, and the one that says the same in part. */
export const rulesWithout = (dropped?: RuleName): Rules => {
  const also = dropped === undefined ? undefined : ruleTable[dropped].with
  const holds = (name: RuleName) => name !== dropped && name !== also
  return {
    "claim-raises-epoch": holds("claim-raises-epoch"),
    "early-list-of-same-manifest": holds("early-list-of-same-manifest"),
    "send-after-activation": holds("send-after-activation"),
    "never-merge-another-epoch": holds("never-merge-another-epoch"),
    "time-out-is-not-success": holds("time-out-is-not-success"),
    "earlier-commit-is-not-this-one": holds("earlier-commit-is-not-this-one"),
    "marker-says-nothing-below": holds("marker-says-nothing-below"),
    "acks-in-order": holds("acks-in-order"),
    "taken-key-is-looked-at": holds("taken-key-is-looked-at"),
    "marker-is-created-only": holds("marker-is-created-only"),
    "marker-stays": holds("marker-stays"),
    window: holds("window"),
    barrier: holds("barrier"),
    "end-is-recorded": holds("end-is-recorded"),
    "numbers-go-on-after-the-end": holds("numbers-go-on-after-the-end"),
    "delete-after-confirmed-trim": holds("delete-after-confirmed-trim"),
    "trim-below-cursor": holds("trim-below-cursor"),
    "cursor-below-durable": holds("cursor-below-durable"),
    "checkpoint-below-durable": holds("checkpoint-below-durable"),
    "origin-mark-covers-own-slots": holds("origin-mark-covers-own-slots"),
    "spool-without-holes": holds("spool-without-holes"),
    "spool-drop-when-durable": holds("spool-drop-when-durable"),
    "copies-pin-the-spool": holds("copies-pin-the-spool"),
    "origin-mark": holds("origin-mark"),
    "copy-is-not-copied": holds("copy-is-not-copied"),
    "replay-from-the-end": holds("replay-from-the-end"),
    "repeat-is-answered": holds("repeat-is-answered"),
    "calls-behind-checkpoint": holds("calls-behind-checkpoint"),
    "table-below-durable": holds("table-below-durable"),
    "known-call-is-not-copied": holds("known-call-is-not-copied")
  }
}
