import { valueDigest } from "../common/index.ts";
import type { CallRecord } from "../ledger/index.ts";
import type { EngineParts } from "../parts.ts";
import { viewersOf } from "../people/index.ts";

type Asked = Pick<CallRecord, "session" | "app" | "tool" | "args">;

/** Is a person being asked about a call of the session with the same arguments, or does its outcome wait for one? */
export async function waitsInSession(
  { ledger }: EngineParts,
  { session, tool, args }: Asked,
): Promise<boolean> {
  const digest = valueDigest(ledger.digestKey, args);
  const open = await ledger.unanswered(session);
  return open.some(
    (one) => one.tool === tool && one.argsDigest === digest && WAITING_FOR_PERSON.has(one.status),
  );
}

const WAITING_FOR_PERSON: ReadonlySet<CallRecord["status"]> = new Set(["waiting", "suspended", "unknown"]);

/** How many are compared. If there are more, one of them may be the same call. */
const MOST = 200;

/** The same, in any session of the requester. */
export async function waitsElsewhere(
  { ledger }: EngineParts,
  { app, tool, args }: Asked,
  requester: string,
): Promise<boolean> {
  const digest = valueDigest(ledger.digestKey, args);
  const page = { limit: MOST, preview: true } as const;
  const viewers = viewersOf({ requirements: [], requesters: [requester] });
  const open = await ledger.confirmations({ state: "open", app, tool, viewers }, page);
  const lost = await ledger.unknownCalls({ ...page, askedBy: [requester] });
  if (open.next !== undefined || lost.next !== undefined) return true;
  return [...open.items.map(({ confirmation }) => confirmation), ...lost.items].some(
    (one) => one.app === app && one.tool === tool && one.argsDigest === digest,
  );
}
