import { holdOn } from "../holds/index.ts";
import { mentionsIn } from "../journal/index.ts";
import type { Ledger, SessionRecord } from "../ledger/index.ts";
import type { EngineParts } from "../parts.ts";
import type { RetentionRules } from "./rules.ts";

/** A session whose content is older than the rules keep it. */
export interface AgedContent {
  readonly session: SessionRecord;
  readonly olderThanMs: number;
  readonly tools: ReadonlySet<string>;
}

/** Is this session's content past its age, by the rules and the ledger's clock? What it is busy with is not looked at. */
export async function agedContent(
  ledger: Ledger,
  key: string,
  rules: RetentionRules,
): Promise<AgedContent | undefined> {
  const { session, now } = (await ledger.load({ sessionKey: key })) ?? {};
  if (session === undefined || now === undefined || session.deletedAt !== undefined) return undefined;
  const { tools } = await mentionsIn(ledger.journal, key);
  const olderThanMs = rules.contentMs(session.app, tools);
  if (olderThanMs === undefined || session.updatedAt >= now - olderThanMs) return undefined;
  return { session, olderThanMs, tools };
}

/** What a run would do with one session. */
export interface Planned {
  readonly session: string;
  readonly app: string;
  readonly user: string;
  readonly id: string;
  readonly idleSince: number;
  /** What goes: its content; of an erased one its journal; `nothing` if a legal hold keeps it. */
  readonly goes: "content" | "journal" | "nothing";
  readonly hold?: string;
}

/** Says what would become of it, and changes nothing. */
export async function planned(
  parts: Pick<EngineParts, "ledger" | "directory">,
  session: SessionRecord,
): Promise<Planned> {
  const { key, app, user, id, updatedAt } = session;
  const { hold } = await holdOn(parts, session);
  const about = { session: key, app, user, id, idleSince: updatedAt };
  return hold === undefined ? { ...about, goes: "content" } : { ...about, goes: "nothing", hold: hold.id };
}
