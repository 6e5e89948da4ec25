import { valueDigest } from "../common/index.ts";
import {
  type ConfirmationRecord,
  type Draft,
  fromSharedItem,
  type GrantRecord,
  isShared,
  type Ledger,
  SHARED_GRANT,
  type StoredItem,
} from "../ledger/index.ts";
import type { EngineParts } from "../parts.ts";

/** Calls that one grant across sessions may be about. */
type Subject = Pick<GrantRecord, "app" | "tool" | "requesters">;
type Reading = Pick<EngineParts, "ledger">;

/** Lists of ids: the grants for a tool and the same requesters. Calls find them without an index. */
const LIST = "shared-grants";
const PAGE = 100;

/** The grants across sessions for such calls that are neither over nor revoked, and their list, if there is one. */
export interface SharedGrants {
  readonly list?: StoredItem;
  readonly grants: readonly GrantRecord[];
}

export async function readShared({ ledger }: Reading, subject: Subject): Promise<SharedGrants> {
  const list = await ledger.items.get(LIST, listId(ledger, subject));
  const ids = Array.isArray(list?.value) ? list.value.filter((id) => typeof id === "string") : [];
  const found = await Promise.all(ids.map((id) => sharedGrant({ ledger }, id)));
  const live = found.filter((grant) => grant?.revoked === undefined);
  const grants = live.filter((grant) => grant !== undefined);
  return list === undefined ? { grants } : { list, grants };
}

/** A grant across sessions that is not over, also if it was revoked. */
export async function sharedGrant({ ledger }: Reading, id: string): Promise<GrantRecord | undefined> {
  const item = await ledger.items.get(SHARED_GRANT, id);
  return item && fromSharedItem(item);
}

/** Adds to the draft the grants across sessions for such calls. */
export async function addShared(parts: Reading, draft: Draft, subject: Subject): Promise<SharedGrants> {
  const shared = await readShared(parts, subject);
  for (const grant of shared.grants) draft.addShared(grant);
  return shared;
}

/**
 * Has the commit refused if a person is asked about such a call meanwhile: whoever uses a grant across sessions has looked
 * for such questions after the list was read.
 */
export function relyOnNoQuestion(draft: Draft, { list }: SharedGrants): void {
  if (list !== undefined) draft.write({ kind: "check", item: list });
}

/** Has the commit of whoever uses one of the grants at the same moment refused: a person is asked about such a call. */
export function tellOfQuestion(draft: Draft, { list, grants }: SharedGrants): void {
  if (list === undefined || grants.length === 0) return;
  const { version: read, ...item } = list;
  draft.write({ kind: "item", item, read });
}

/** Adds to the draft what an approval granted across sessions, if it did. */
export async function addSharedOf(
  parts: Reading,
  draft: Draft,
  question: ConfirmationRecord | undefined,
): Promise<void> {
  if (question?.votes.some(({ grant }) => isShared(grant)) === true) await addShared(parts, draft, question);
}

/** Adds to the draft the grants across sessions that were given in its session. */
export async function addSharedFrom({ ledger }: Reading, draft: Draft): Promise<void> {
  const prefix = `${draft.sessionKey}.`;
  for (let after = prefix; ; ) {
    const { items, next } = await ledger.items.list(SHARED_GRANT, { after, limit: PAGE });
    const own = items.filter(({ id }) => id.startsWith(prefix));
    for (const grant of own.flatMap((item) => fromSharedItem(item) ?? [])) draft.addShared(grant);
    if (next === undefined || own.length < items.length) return;
    after = items.at(-1)?.id ?? after;
  }
}

/** Lists a new grant, in place of those that are over by then. */
export function writeToList(
  { ledger }: Reading,
  draft: Draft,
  { grant, shared }: { readonly grant: GrantRecord; readonly shared: SharedGrants },
): void {
  const all = [...shared.grants, grant];
  const expiresAt = Math.max(...all.map(({ endsAt }) => endsAt));
  const item = { kind: LIST, id: listId(ledger, grant), value: all.map(({ id }) => id), expiresAt };
  draft.write({ kind: "item", item, read: shared.list?.version ?? 0 });
}

function listId({ digestKey }: Pick<Ledger, "digestKey">, { app, tool, requesters }: Subject): string {
  return valueDigest(digestKey, [app, tool, [...new Set(requesters)].toSorted()]);
}
