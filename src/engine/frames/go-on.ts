import type { Draft, FrameRecord } from "../ledger/index.ts";
import type { EngineParts } from "../parts.ts";
import type { AskedCall } from "../questions/index.ts";

/** A step that ends may have kept others of its session waiting; those that were left ready meanwhile go on here. */
export async function takeUpReady(
  { ledger, takeUp }: EngineParts,
  session: string,
  draft?: Draft,
): Promise<void> {
  if (draft?.ready === 0) return;
  const ready = await ledger.readyFrames(session);
  if (ready.length > 0) await takeUp(ready);
}

/**
 * Notes for whoever waits for the run what it left when it came to rest. Only for a run of one frame: of others, more
 * may be under way elsewhere. And only if nothing else is open.
 */
export function noteRest(
  { executions }: EngineParts,
  frame: FrameRecord,
  { draft, asked }: { readonly draft: Draft | undefined; readonly asked: readonly AskedCall[] },
): void {
  const nested = frame.parentFrame !== undefined || frame.parentCall !== undefined;
  if (draft === undefined || nested || draft.open !== asked.length) return;
  executions.cacheOf(frame.invocation)?.restsAt(draft, asked);
}
