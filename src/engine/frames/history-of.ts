import type { StoredEvent } from "../../protocol/index.ts";
import type { FrameRecord } from "../ledger/index.ts";
import type { EngineParts } from "../parts.ts";

/** What a frame's session was told: as this process left it, if nobody else has been at it, or read. */
export async function historyOf(
  { executions, ledger }: EngineParts,
  { session, invocation }: Pick<FrameRecord, "session" | "invocation">,
): Promise<readonly StoredEvent[]> {
  const read = (): Promise<readonly StoredEvent[]> => ledger.events(session);
  const cache = executions.cacheOf(invocation);
  return cache === undefined ? read() : cache.history(read);
}
