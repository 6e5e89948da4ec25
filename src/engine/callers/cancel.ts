import { addSharedOf } from "../grants/index.ts";
import { type CallRecord, Draft, type SessionName, transact } from "../ledger/index.ts";
import { nextCall } from "../lifecycle/index.ts";
import type { EngineParts } from "../parts.ts";
import { writeWithdrawal } from "../questions/index.ts";

/**
 * Withdraws a call that has not started, on its caller's own word: the caller does not want it any more. False, without
 * writing, if it has started, or has ended.
 */
export async function cancelCall(parts: EngineParts, callId: string, reason: string): Promise<boolean> {
  return transact<boolean>(parts, { call: callId }, async (snapshot, last) => {
    const { call } = snapshot ?? {};
    if (snapshot === undefined || call === undefined || !isCancellable(call)) return { value: false };
    // If a power failure undid this, the question would be open again and could be approved.
    const draft = new Draft(parts, snapshot.now, snapshot.session).sync();
    await addSharedOf(parts, draft, snapshot.confirmation);
    writeWithdrawal(parts, draft, { ...snapshot, call }, { reason, owner: undefined, last });
    return { draft, value: true };
  });
}

// If a call was started and released, nobody may say that it did not run.
function isCancellable({ runs, status, lost = 0 }: CallRecord): boolean {
  return runs === "caller" && lost === 0 && nextCall(status, "cancel") !== undefined;
}

/** Withdraws every call of a thread that has not started. Returns how many. */
export async function cancelThread(parts: EngineParts, thread: SessionName, reason: string): Promise<number> {
  const { session } = (await parts.ledger.load({ session: thread })) ?? {};
  if (session === undefined) return 0;
  let cancelled = 0;
  for (const { id } of await parts.ledger.unanswered(session.key))
    cancelled += Number(await cancelCall(parts, id, reason));
  return cancelled;
}
