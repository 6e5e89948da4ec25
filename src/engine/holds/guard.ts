import { isMentioned } from "../journal/index.ts";
import type { Draft, ItemVersion, Ledger, SessionRecord, Write } from "../ledger/index.ts";
import { userOfSession } from "../people/index.ts";
import type { Hold } from "./hold.ts";
import { allHolds } from "./read.ts";

/** One item stands for all holds: whoever changes them, and whoever relies on there being none, moves its version. */
const GUARD = { kind: "hold guard", id: "all" } as const;

/** The version of all holds that something was judged on. */
export interface GuardedBy {
  readonly version: number;
}

/** Has the commit refused if a hold was placed or released, or something erased, since this was read. */
export function guardAgainstHolds(draft: Draft, { version }: GuardedBy): void {
  draft.write(guardWrite(version));
}

export function guardWrite(read: number): Extract<Write, { kind: "item" }> {
  return { kind: "item", item: { ...GUARD, value: {} }, read };
}

/** The same as an item, for what is changed without a commit. */
export function guardItem({ version }: GuardedBy): ItemVersion {
  return { ...GUARD, version };
}

/** The present version, to be read before the holds are. */
export async function readGuard({ items }: Pick<Ledger, "items">): Promise<GuardedBy> {
  return { version: (await items.get(GUARD.kind, GUARD.id))?.version ?? 0 };
}

/** The first hold on this session, and the version of all holds that this was judged on. */
export async function holdOn(
  ledger: Ledger,
  session: Pick<SessionRecord, "key" | "app" | "user">,
): Promise<{ readonly guard: GuardedBy; readonly hold?: Hold }> {
  const guard = await readGuard(ledger);
  const holds = await allHolds(ledger);
  const direct = holds.find((hold) => isDirect(hold, session));
  const hold = direct ?? (await holdOnTakingPart(ledger, holds, session.key));
  return hold === undefined ? { guard } : { guard, hold };
}

function isDirect(
  { on, name }: Hold,
  { key, app, user }: Pick<SessionRecord, "key" | "app" | "user">,
): boolean {
  if (on === "session") return name === key;
  return on === "app" ? name === app : name === user || name === userOfSession(user);
}

/** A hold on a person also keeps what they decided or asked in the sessions of others. */
async function holdOnTakingPart(
  ledger: Ledger,
  holds: readonly Hold[],
  session: string,
): Promise<Hold | undefined> {
  const people = holds.filter(({ on }) => on === "user");
  if (people.length === 0) return undefined;
  const found = await isMentioned(ledger.journal, session, new Set(people.map(({ name }) => name)));
  return people.find(({ name }) => name === found);
}

/** Why content under a hold is not erased. */
export function underHold({ id, on, name }: Hold): {
  readonly ok: false;
  readonly code: "under-hold";
  readonly message: string;
} {
  const message = `The hold ${id} on the ${on} "${name}" keeps this content. Release it first: countersign hold release ${id}.`;
  return { ok: false, code: "under-hold", message };
}
