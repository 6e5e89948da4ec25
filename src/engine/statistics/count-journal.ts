import { CountersignError, type JsonObject } from "../../protocol/index.ts";
import type { Ledger, Lists } from "../ledger/index.ts";
import { type Day, dayOf, type Fact, NO_DAY, withFact } from "./day.ts";
import { factOf } from "./facts.ts";

type Counting = Pick<Ledger, "items" | "journal" | "load" | "now">;

const DAY_MS = 86_400_000;
/** For how long a day's numbers are kept. */
const KEPT_DAYS = 100;
/** Each batch ends with a stored place, so that whoever counts can stop soon. */
const BATCH = 100;
const MOST_BYTES = 4_000_000;
const TRIES = 20;
// If what is stored changes its shape, change these names: then everything is counted again.
const PLACE = { kind: "statistics", id: "place-1" } as const;
const DAYS = "statistics of day 1";

/** How far the journal was counted. */
export interface Counted {
  /** More records are waiting to be counted. */
  readonly behind: boolean;
}

/**
 * Counts what the journal says since somebody last counted, at most about `most` records of it. Any number of processes
 * may do this at once, and any of them may die: each day remembers up to which record it was counted, so that nothing
 * is counted twice, and the common place moves on only when all days are stored.
 */
export async function countJournal(ledger: Counting, most: number): Promise<Counted> {
  for (let counted = 0; counted < most; ) {
    const place = await ledger.items.get(PLACE.kind, PLACE.id);
    const after = (place?.value ?? 0) as number;
    const records = await ledger.journal.records({ after, limit: BATCH, bytes: MOST_BYTES });
    const last = records.at(-1);
    if (last === undefined) return { behind: false };
    const days = new Map<string, Dated[]>();
    for (const record of records) {
      // Checked first: it may cost a load, and nothing of such a day is stored.
      if (expiryOf(dayOf(record.at)) <= ledger.now) continue;
      const fact = await factOf(ledger, record);
      if (fact === undefined) continue;
      const day = dayOf(record.at);
      days.set(day, [...(days.get(day) ?? []), { seq: record.seq, fact }]);
    }
    for (const [day, facts] of days) await addToDay(ledger, day, { facts, upTo: last.seq });
    // False: another process moved it. What it counted is not counted again.
    await ledger.items.put({ ...PLACE, value: last.seq }, place?.version ?? 0);
    counted += records.length;
  }
  return { behind: true };
}

/** When a day's numbers are deleted. */
function expiryOf(day: string): number {
  return Date.parse(`${day}T00:00:00.000Z`) + KEPT_DAYS * DAY_MS;
}

interface Dated {
  readonly seq: number;
  readonly fact: Fact;
}

async function addToDay(
  ledger: Counting,
  id: string,
  { facts, upTo }: { readonly facts: readonly Dated[]; readonly upTo: number },
): Promise<void> {
  const expiresAt = expiryOf(id);
  for (let tries = 0; tries < TRIES; tries++) {
    const kept = await ledger.items.get(DAYS, id);
    const before = (kept?.value ?? NO_DAY) as unknown as Day;
    const news = facts.filter(({ seq }) => seq > before.upTo);
    if (news.length === 0) return;
    const after = news.reduce((day, { fact }) => withFact(day, fact), { ...before, upTo });
    const value = after as unknown as JsonObject;
    if (await ledger.items.put({ kind: DAYS, id, value, expiresAt }, kept?.version ?? 0)) return;
  }
  throw new CountersignError(
    "ledger-busy",
    `Other processes changed the statistics of ${id} ${TRIES} times meanwhile.`,
  );
}

/** Every day that is kept, oldest first. */
export async function keptDays(
  lists: Pick<Lists, "items">,
): Promise<readonly { readonly id: string; readonly day: Day }[]> {
  const { items } = await lists.items.list(DAYS, { limit: 2 * KEPT_DAYS });
  return items.map(({ id, value }) => ({ id, day: value as unknown as Day }));
}
