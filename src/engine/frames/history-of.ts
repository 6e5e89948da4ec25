import type { StoredEvent } from "../../protocol/index.ts";
import type { FrameRecord } from "../ledger/index.ts";
import type { EngineParts } from "../parts.ts";

/** The events of a frame's session: from the cache, if no other process has changed the session; otherwise read. */
export async function historyOf(
  { executions, ledger }: EngineParts,
  { session, invocation }: Pick<FrameRecord, "session" | "invocation">,
): Promise<readonly StoredEvent[]> {
  const read = (): Promise<readonly StoredEvent[]> => ledger.events(session);
  const cache = executions.cacheOf(invocation);
  return cache === undefined ? read() : cache.history(read);
}
