import type { Decider } from "../decisions/index.ts";
import type { ActedBy } from "../journal/index.ts";
import { Draft, type SessionName, type Snapshot } from "../ledger/index.ts";
import type { EngineParts } from "../parts.ts";

/** The session whose journal tells of holds, erasures and pruning. It is never erased. */
export const RETENTION_DIARY: SessionName = {
  app: "countersign:retention",
  user: "retention",
  id: "retention",
};

/** Is it the diary of retention? */
export function isDiary({ app, user, id }: SessionName): boolean {
  return app === RETENTION_DIARY.app && user === RETENTION_DIARY.user && id === RETENTION_DIARY.id;
}

/** A commit to the diary, which is made if there is none. */
export function diaryDraft(parts: EngineParts, snapshot: Snapshot | undefined): Draft {
  const now = snapshot?.now ?? parts.ledger.now;
  const session = snapshot?.session ?? { key: parts.newId(now), create: RETENTION_DIARY };
  return new Draft(parts, now, session).sync();
}

/** Who did it, as the journal says it. */
export function actor({ by: { id, kind, authenticated }, via }: Decider): ActedBy {
  return { by: { id, kind, authenticated }, via };
}
