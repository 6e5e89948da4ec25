import type { Draft, FrameRecord } from "../ledger/index.ts";
import type { EngineParts } from "../parts.ts";
import type { AskedCall } from "../questions/index.ts";

/** Other frames of the session may have waited for this step; those that are ready continue here. */
export async function stepReadyFrames(
  { ledger, takeUp }: EngineParts,
  session: string,
  draft?: Draft,
): Promise<void> {
  if (draft?.ready === 0) return;
  const ready = (await ledger.liveFrames(session)).filter(({ status }) => status === "ready");
  if (ready.length > 0) await takeUp(ready.map(({ id }) => id).sort());
}

/**
 * Records the run's state when it stops, for callers that wait for the run. Only for a run of one frame, because other
 * frames may run elsewhere; and only if nothing else is open.
 */
export function cacheRest(
  { executions }: EngineParts,
  frame: FrameRecord,
  { draft, asked }: { readonly draft: Draft | undefined; readonly asked: readonly AskedCall[] },
): void {
  const nested = frame.parentFrame !== undefined || frame.parentCall !== undefined;
  if (draft === undefined || nested || draft.open !== asked.length) return;
  executions.cacheOf(frame.invocation)?.restsAt(draft, asked);
}
