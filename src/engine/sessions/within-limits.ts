import type { SessionRecord } from "../ledger/index.ts";
import type { EngineParts } from "../parts.ts";
import { openRoom, type Reserved, tooManyOpen } from "../questions/index.ts";
import type { CallPlan, PlannedCall } from "./turns.ts";

/** Calls beyond the limit of open questions, the session's or the ledger's, get an answer instead of a question. */
export async function withinLimits(
  { settings, quota }: EngineParts,
  { session, reserved }: { readonly session: SessionRecord; readonly reserved: Reserved },
  calls: readonly PlannedCall[],
): Promise<readonly PlannedCall[]> {
  const asking = calls.filter(({ plan }) => plan.kind === "ask");
  const room = Math.min(openRoom(settings, session), asking.length);
  const tooMany = new Set(asking.slice(await quota.pendingRoom(reserved, room)));
  if (tooMany.size === 0) return calls;
  const plan: CallPlan = { kind: "answer", status: "failed", result: tooManyOpen(settings) };
  return calls.map((planned) => (tooMany.has(planned) ? { ...planned, plan } : planned));
}
