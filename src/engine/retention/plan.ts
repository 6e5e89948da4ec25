import { eachOf } from "../ledger/index.ts";
import type { EngineParts } from "../parts.ts";
import { agedContent, type Planned, planned } from "./aged-content.ts";
import { agedJournal } from "./aged-journal.ts";
import type { JournalRules, RetentionRules } from "./rules.ts";

const PAGE = 100;

/** What a run would erase now, and what a hold keeps. Changes nothing. */
export async function* planRetention(parts: EngineParts, rules: RetentionRules): AsyncGenerator<Planned> {
  const { ledger } = parts;
  if (rules.journal !== undefined) yield* plannedJournal(parts, rules.journal);
  if (rules.shortestContentMs === undefined) return;
  const idleSince = ledger.now - rules.shortestContentMs;
  for await (const { key } of eachOf((page) => ledger.sessions({ idleSince }, page), PAGE)) {
    const aged = await agedContent(ledger, key, rules);
    if (aged !== undefined) yield planned(parts, aged.session);
  }
}

async function* plannedJournal(parts: EngineParts, rules: JournalRules): AsyncGenerator<Planned> {
  const { ledger } = parts;
  const upTo = (await ledger.journal.lastCheckpoint())?.lastSeq ?? 0;
  const which = { idleSince: ledger.now - rules.shortestMs, deleted: true } as const;
  for await (const session of eachOf((page) => ledger.sessions(which, page), PAGE)) {
    if (session.pruned !== undefined) continue;
    const aged = await agedJournal(parts, session, { rules, upTo });
    const { key, app, user, id, updatedAt } = session;
    const about = { session: key, app, user, id, idleSince: updatedAt };
    if (aged.goes) yield { ...about, goes: "journal" };
    else if (aged.why === "held") yield { ...about, goes: "nothing", hold: aged.hold.id };
  }
}
