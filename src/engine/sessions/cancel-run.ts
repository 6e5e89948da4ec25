import { addSharedOf } from "../grants/index.ts";
import { type CallRecord, Draft, type FrameRecord, transact } from "../ledger/index.ts";
import { mayHaveRun, nextCall } from "../lifecycle/index.ts";
import type { EngineParts } from "../parts.ts";
import { writeWithdrawal } from "../questions/index.ts";

/** A run to be stopped. */
export interface RunToCancel {
  readonly session: string;
  readonly invocation: string;
  readonly reason: string;
  /** Tell the session that the run was stopped, by an event with this code. */
  readonly errorCode?: string;
  /** Not if a call of it runs, may have run, or has an unknown outcome: "stopped" would say that it did not happen. */
  readonly unlessStarted?: true;
}

/**
 * Stops a run: its open questions are withdrawn, its frames take no further step. What executes already is
 * not undone; its result is still recorded. Resolves to whether anything was left to stop.
 */
export async function cancelRun(
  parts: EngineParts,
  { session, invocation, reason, errorCode, unlessStarted }: RunToCancel,
): Promise<boolean> {
  return transact(parts, { sessionKey: session }, async (snapshot) => {
    const live = await parts.ledger.liveFrames(session);
    const frames = live.filter((frame) => frame.invocation === invocation);
    if (snapshot === undefined || frames.length === 0) return { value: false };
    if (unlessStarted === true && (await hasStarted(parts, frames))) return { value: false };
    // If a crash undid this, its questions would be open again and could be approved.
    const draft = new Draft(parts, snapshot.now, snapshot.session).sync();
    await writeCancellation(parts, draft, { frames, reason });
    if (errorCode !== undefined) {
      const author = (frames.find(({ parentFrame }) => parentFrame === undefined) ?? frames[0])?.agent ?? "";
      draft.event({ author, invocationId: invocation, errorCode, errorMessage: reason });
    }
    draft.journal("run-cancelled", { invocation, reason });
    return { draft, value: true };
  });
}

async function hasStarted({ ledger }: EngineParts, frames: readonly FrameRecord[]): Promise<boolean> {
  const calls = await ledger.calls(frames.flatMap(({ calls: ids }) => ids));
  return calls.some((call) => call.status === "unknown" || mayHaveRun(call));
}

/**
 * Stops the runs of a session whose questions wait for an answer, in the commit of what takes their place: if that is refused,
 * they go on waiting.
 */
export async function cancelAsking(parts: EngineParts, draft: Draft, reason: string): Promise<void> {
  const { ledger } = parts;
  const asking = new Set<string | undefined>();
  for (const call of await ledger.unanswered(draft.sessionKey))
    if (await isAsking(parts, call)) asking.add(call.frame);
  const live = await ledger.liveFrames(draft.sessionKey);
  const runs = Map.groupBy(live, ({ invocation }) => invocation);
  for (const [invocation, frames] of runs) {
    if (!frames.some(({ id }) => asking.has(id))) continue;
    await writeCancellation(parts, draft.sync(), { frames, reason });
    draft.journal("run-cancelled", { invocation, reason });
  }
}

/** A suspended call may also wait for another agent's work. */
async function isAsking({ ledger }: EngineParts, { id, status }: CallRecord): Promise<boolean> {
  if (status !== "suspended") return status === "waiting";
  return (await ledger.load({ call: id }))?.confirmation?.status === "requested";
}

async function writeCancellation(
  parts: EngineParts,
  draft: Draft,
  { frames, reason }: { readonly frames: readonly FrameRecord[]; readonly reason: string },
): Promise<void> {
  // The frames as this commit leaves them: over, so that no answer starts one again.
  const over = frames.map((frame) => draft.moveFrame(frame, "cancel", { owner: null }));
  await withdrawCalls(parts, draft, { frames: over, reason });
}

async function withdrawCalls(
  parts: EngineParts,
  draft: Draft,
  { frames, reason }: { readonly frames: readonly FrameRecord[]; readonly reason: string },
): Promise<void> {
  for (const id of frames.flatMap(({ calls }) => calls)) {
    const held = await parts.ledger.load({ call: id });
    const { call, confirmation } = held ?? {};
    if (held === undefined || call === undefined || nextCall(call.status, "cancel") === undefined) continue;
    const frame = frames.find((candidate) => candidate.id === call.frame);
    const over = frame === undefined ? {} : { frame };
    const subject = { ...held, call, ...(confirmation === undefined ? {} : { confirmation }), ...over };
    await addSharedOf(parts, draft, confirmation);
    writeWithdrawal(parts, draft, subject, { reason, owner: undefined, last: undefined });
  }
}
