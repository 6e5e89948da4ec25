import type { Decider } from "../decisions/index.ts";
import type { ActedBy } from "../journal/index.ts";
import { Draft, type SessionName, type Snapshot } from "../ledger/index.ts";
import type { EngineParts } from "../parts.ts";

/** The session whose journal tells of a person's delegations. */
export function diaryOf(from: string): SessionName {
  return { app: "countersign:delegations", user: from, id: "delegations" };
}

/** A commit to that session, which is made if there is none, or none any more. */
export function diaryDraft(parts: EngineParts, snapshot: Snapshot | undefined, from: string): Draft {
  const now = snapshot?.now ?? parts.ledger.now;
  const session = snapshot?.session ?? { key: parts.newId(now), create: diaryOf(from) };
  return new Draft(parts, now, session).sync();
}

/** Who did it, as the journal says it. */
export function actor({ by: { id, kind, authenticated }, via }: Decider): ActedBy {
  return { by: { id, kind, authenticated }, via };
}
