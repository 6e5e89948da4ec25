import { type CallerOutcome, type Engine, partsOf } from "../../engine/index.ts";
import type { FrameworkCallId, ThreadGate } from "../thread-gate.ts";

const NOT_COLLECTED = "the client did not come back for it in time";
/** How long after an equal call people are told about it. */
const RECENT_MS = 24 * 3_600_000;

/**
 * Is it too late to collect what became of this call? Then an equal call is a new one. An approval that was not used
 * till then is withdrawn: nobody approves a call of next month.
 */
export async function isTooLate(
  engine: Engine,
  gate: ThreadGate,
  { call, collectWithinMs }: { readonly call: FrameworkCallId; readonly collectWithinMs: number },
): Promise<boolean> {
  const earlier = await gate.find(call);
  if (earlier === undefined) return false;
  // By another request, which may have stopped there.
  if (earlier.status === "cancelled" && earlier.reason === NOT_COLLECTED) return true;
  const { at, now } = await answeredAt(engine, earlier);
  if (at === undefined || now - at <= collectWithinMs) return false;
  if (earlier.status !== "allowed") return true;
  // Somebody else may have started it meanwhile.
  return (await gate.withdraw(call, NOT_COLLECTED)).status === "cancelled";
}

/** What the approver of a call must know about the equal one before it. */
export async function noteOnEarlier(
  engine: Engine,
  gate: ThreadGate,
  { id, occurrence = 0 }: FrameworkCallId,
): Promise<string | undefined> {
  const earlier = occurrence === 0 ? undefined : await gate.find({ id, occurrence: occurrence - 1 });
  if (earlier?.status !== "succeeded") return undefined;
  const { at, now } = await answeredAt(engine, earlier);
  if (at === undefined || now - at > RECENT_MS) return undefined;
  const time = new Date(at).toISOString();
  return `An equal call of this thread succeeded at ${time}; its result may not have reached the client.`;
}

/** When the call ended, or was approved; by the ledger's clock. */
async function answeredAt(
  engine: Engine,
  { id }: CallerOutcome,
): Promise<{ readonly at?: number; readonly now: number }> {
  const { call, confirmation, now = 0 } = (await partsOf(engine).ledger.load({ call: id })) ?? {};
  const approvedAt = call?.status === "ready" ? confirmation?.votes.at(-1)?.at : undefined;
  const at = call?.endedAt ?? approvedAt;
  return at === undefined ? { now } : { at, now };
}
