import { clear, planClaim, type Taken } from "../calls/index.ts";
import { hostOf } from "../host.ts";
import type { BodyOf } from "../journal/index.ts";
import {
  type CallRecord,
  Draft,
  type FrameRecord,
  leavesToOthers,
  type Plan,
  transact,
} from "../ledger/index.ts";
import type { EngineParts } from "../parts.ts";

const LOST_REASON = "the process that ran it stopped before it reported an outcome";
const FORGOTTEN_REASON =
  "the ledger lost the outcome that the process had reported, and the process no longer has it";

/** Work that, according to the ledger, this process does, but it does not. */
export interface IdleOwner {
  readonly owner: string;
  /** For a call: its attempt. */
  readonly turn: number;
  readonly isIdle: () => boolean;
}

/**
 * Recovers a call of a dead process. A repeatable call runs again with its key; any other becomes `unknown`, because
 * fencing protects our records, not the outside world. With `own`, a call that this process itself left.
 */
export async function recoverCall(parts: EngineParts, callId: string, own?: IdleOwner): Promise<Taken> {
  return transact<Taken>(parts, { call: callId }, async (snapshot, last) => {
    const { call: stored } = snapshot ?? {};
    if (snapshot === undefined || stored?.status !== "executing") return { value: {} };
    if (own === undefined ? await isHeld(parts, stored) : !isOwn(own, stored, stored.attempt))
      return { value: {} };
    const draft = new Draft(parts, snapshot.now, snapshot.session);
    // Also of an attempt of this process: it may have run, whatever becomes of the call now.
    const loss = lossOf(stored);
    const call: CallRecord = { ...stored, ...loss };
    const clearance = await clear(parts, { ...snapshot, call }, snapshot);
    const reason = whyNotAgain(parts, call);
    // A call that must not run again cannot be withdrawn as if it had not started.
    if (reason !== undefined || (!clearance.ok && !clearance.elsewhere)) {
      draft.journal("call-unknown", lostBody(stored, own, reason));
      return { draft, value: { call: draft.moveCall(stored, "lose", loss) } };
    }
    draft.journal("call-released", lostBody(stored, own));
    if (clearance.ok)
      return planClaim(parts, { ...snapshot, call }, { stored, first: "release", last, draft });
    return { draft, value: { call: draft.moveCall(stored, "release", { owner: null, ...loss }) } };
  });
}

/** The result of trying to take a frame. */
export interface TakenFrame {
  readonly stepping?: FrameRecord;
  /** It is free, but it cannot be stepped here now. */
  readonly left?: true;
}

/** Takes over a frame whose process died during a model step. Its event was not written, so it steps again. */
export async function recoverFrame(
  parts: EngineParts,
  frameId: string,
  own?: IdleOwner,
): Promise<TakenFrame> {
  return transact<TakenFrame>(parts, { frame: frameId }, async (snapshot, last) => {
    const { frame } = snapshot ?? {};
    if (snapshot === undefined || frame === undefined || !(await isFree(parts, frame, own)))
      return { value: {} };
    const draft = new Draft(parts, snapshot.now, snapshot.session);
    const deleted = snapshot.session.deletedAt !== undefined;
    const loss = stepLossOf(frame, own);
    if (deleted) {
      draft.moveFrame(frame, "cancel", { owner: null, ...loss });
      return { draft, value: {} };
    }
    if (leavesToOthers(last) || hostOf(parts.hosts, frame)?.step === undefined)
      return leave(draft, frame, loss);
    const owner = await parts.lease.hold();
    // A frame that is stepping already holds its branch.
    const exclusive = frame.status === "ready";
    const command = exclusive ? "step" : "take-over";
    const stepping = draft.claimedBy(owner).moveFrame(frame, command, { owner, ...loss, exclusive });
    return { draft, value: { stepping: draft.willStep(stepping) } };
  });
}

/** Releases a frame for any process that can step it. */
function leave(draft: Draft, frame: FrameRecord, loss: { readonly lost?: number }): Plan<TakenFrame> {
  if (frame.status === "ready") return { value: { left: true } };
  draft.moveFrame(frame, "yield", { owner: null, ...loss });
  return { draft, value: { left: true } };
}

async function isFree(parts: EngineParts, frame: FrameRecord, own?: IdleOwner): Promise<boolean> {
  if (own !== undefined) return frame.status === "stepping" && isOwn(own, frame, frame.turn);
  return frame.status === "ready" || (frame.status === "stepping" && !(await isHeld(parts, frame)));
}

// Only a fenced owner has lost its work for good; an owner that is merely late may still renew its lease.
async function isHeld(parts: EngineParts, { owner: id }: { readonly owner?: string }): Promise<boolean> {
  const owner = id === undefined ? undefined : await parts.ledger.owners.get(id);
  return owner?.fenced === false;
}

function isOwn(own: IdleOwner, { owner }: { readonly owner?: string }, turn: number): boolean {
  return owner === own.owner && turn === own.turn && own.isIdle();
}

/** One more attempt was lost: its process, or what the process had reported. */
function lossOf({ lost = 0 }: { readonly lost?: number }): { readonly lost: number } {
  return { lost: lost + 1 };
}

function stepLossOf(frame: FrameRecord, own: IdleOwner | undefined): { readonly lost?: number } {
  return frame.status === "stepping" && own === undefined ? lossOf(frame) : {};
}

/** Why a call whose process was lost is not run again; undefined if it may be. */
function whyNotAgain(
  { settings }: EngineParts,
  { repeatable, lost = 0 }: Pick<CallRecord, "repeatable" | "lost">,
): string | undefined {
  if (!repeatable) return LOST_REASON;
  // The call itself may crash its processes; running it again could crash one after another.
  if (lost < settings.maxLostAttempts) return undefined;
  return `${lost} processes that ran it stopped before they reported an outcome`;
}

function lostBody(
  call: CallRecord,
  own?: IdleOwner,
  reason: string = LOST_REASON,
): BodyOf<"call-unknown" | "call-released"> {
  const { id, tool, attempt } = call;
  if (own !== undefined) return { call: id, tool, attempt, reason: FORGOTTEN_REASON };
  return { call: id, tool, attempt, reason, ...(call.owner === undefined ? {} : { owner: call.owner }) };
}
