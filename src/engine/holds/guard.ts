import { CountersignError, isJsonObject, type JsonValue, member } from "../../protocol/index.ts";
import { isMentioned } from "../journal/index.ts";
import type { Draft, ItemVersion, Ledger, SessionRecord } from "../ledger/index.ts";
import type { EngineParts } from "../parts.ts";
import { userOfSession } from "../people/index.ts";
import { type Hold, heldLogins } from "./hold.ts";
import { allHolds } from "./read.ts";

/**
 * One item stands for all holds: whoever changes them moves its version, and whoever relies on there being none names the
 * version that this was judged on. It says, too, that the whole ledger is about to be erased.
 */
const GUARD = { kind: "hold guard", id: "all" } as const;

/** The version of all holds that something was judged on. */
export interface GuardedBy {
  readonly version: number;
  /** No hold is placed any more. */
  readonly hasEnded: boolean;
}

/** Has the commit refused if a hold was placed or released since this was read. */
export function guardAgainstHolds(draft: Draft, guard: GuardedBy): void {
  draft.write({ kind: "check", item: guardItem(guard) });
}

/** For whoever changes a hold in the same commit. */
export function moveGuard(draft: Draft, { version }: GuardedBy): void {
  draft.write({ kind: "item", item: { ...GUARD, value: {} }, read: version });
}

/** The same as an item, for what is changed without a commit. */
export function guardItem({ version }: GuardedBy): ItemVersion {
  return { ...GUARD, version };
}

/** The current version; read it before the holds. The item is created if it is missing, so that it can be locked. */
export async function readGuard({ items }: Pick<Ledger, "items">): Promise<GuardedBy> {
  for (;;) {
    const found = await items.get(GUARD.kind, GUARD.id);
    if (found !== undefined) return { version: found.version, hasEnded: hasEnded(found.value) };
    await items.put({ ...GUARD, value: {} }, 0);
  }
}

/**
 * The point of no return of whoever erases a whole ledger: from then on no hold is placed in it. Throws `under-hold` if there
 * is one. It can be repeated.
 */
export async function endHolds(ledger: Pick<Ledger, "items">): Promise<void> {
  for (;;) {
    const guard = await readGuard(ledger);
    const [hold] = await allHolds(ledger);
    if (hold !== undefined) throw new CountersignError("under-hold", underHold(hold).message);
    if (guard.hasEnded) return;
    if (await ledger.items.put({ ...GUARD, value: { ended: true } }, guard.version)) return;
  }
}

function hasEnded(value: JsonValue): boolean {
  return isJsonObject(value) && member(value, "ended") === true;
}

/** Where holds are, and who is behind which login. */
type Holding = Pick<EngineParts, "ledger" | "directory">;

/** The first hold on this session, and the version of all holds that this was judged on. */
export async function holdOn(
  parts: Holding,
  session: Pick<SessionRecord, "key" | "app" | "user">,
): Promise<{ readonly guard: GuardedBy; readonly hold?: Hold }> {
  const { ledger, directory } = parts;
  const guard = await readGuard(ledger);
  const holds = await allHolds(ledger);
  const { key, app, user } = session;
  const direct =
    holds.find(({ on, name }) => (on === "session" && name === key) || (on === "app" && name === app)) ??
    holdOnLogins(holds, [user], directory);
  const hold = direct ?? (await holdOnTakingPart(parts, holds, key));
  return hold === undefined ? { guard } : { guard, hold };
}

/** The first hold on a person to whom one of these ids belongs. */
export function holdOnLogins(
  holds: readonly Hold[],
  ids: readonly string[],
  directory: EngineParts["directory"],
): Hold | undefined {
  return holds.find((hold) => {
    if (hold.on !== "user") return false;
    const held = heldLogins(hold, directory);
    return ids.some((id) => held.has(id) || held.has(userOfSession(id)));
  });
}

/** A hold on a person also keeps what they decided or asked in the sessions of others. */
async function holdOnTakingPart(
  { ledger, directory }: Holding,
  holds: readonly Hold[],
  session: string,
): Promise<Hold | undefined> {
  const people = holds.filter(({ on }) => on === "user");
  if (people.length === 0) return undefined;
  const logins = new Set(people.flatMap((hold) => [...heldLogins(hold, directory)]));
  const found = await isMentioned(ledger.journal, session, logins);
  return found === undefined ? undefined : holdOnLogins(people, [found], directory);
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
