import { CountersignError, isJsonObject, type JsonObject, member } from "../../protocol/index.ts";
import type { KeyValueStore, StoredItem } from "./key-value-store.ts";

/**
 * The item that says whether a ledger is suspended. While it is, every store refuses commits that name an owner: no call and
 * no step starts, in whichever process. What runs may end. A store resolves the change that puts it only when no earlier
 * claim can still be made. It is never removed, so its version never counts from 1 again: whoever read it long ago changes
 * nothing.
 */
export const SUSPENSION = { kind: "tenant", id: "suspended" } as const;

/**
 * Suspends a ledger. `change` is the number of the change of the registry that ordered it; left out, the order is newer than
 * all before. False if a later change ordered something else, which stays as it is.
 */
export function suspendLedger(items: KeyValueStore, why: JsonObject, change?: number): Promise<boolean> {
  return order(items, true, { why, change });
}

/** Lets calls start again. False if a change of the registry after this one ordered something else. */
export function resumeLedger(items: KeyValueStore, change?: number): Promise<boolean> {
  return order(items, false, { change });
}

/** Is the ledger suspended? A mark that cannot be read says so. */
export async function isLedgerSuspended(items: KeyValueStore): Promise<boolean> {
  const found = await items.get(SUSPENSION.kind, SUSPENSION.id);
  return found !== undefined && (!isJsonObject(found.value) || member(found.value, "suspended") !== false);
}

/** The refusal of whatever would start something. */
export function suspendedError(name?: string): CountersignError {
  const who = name === undefined ? "This tenant" : `The tenant "${name}"`;
  return new CountersignError(
    "suspended",
    `${who} is suspended: nothing is read, decided or started. Ask the operator.`,
  );
}

async function order(
  items: KeyValueStore,
  suspended: boolean,
  { change, why }: { readonly change: number | undefined; readonly why?: JsonObject },
): Promise<boolean> {
  for (;;) {
    const found = await items.get(SUSPENSION.kind, SUSPENSION.id);
    const latest = found === undefined ? 0 : changeIn(found);
    if (change !== undefined && latest > change) return false;
    // PostgreSQL looks at the first member only.
    const value = { suspended, change: change ?? latest, ...(why === undefined ? {} : { why }) };
    // Put again even if it says so already: only the store's answer says that no earlier claim can still be made.
    if (await items.put({ ...SUSPENSION, value }, found?.version ?? 0)) return true;
  }
}

function changeIn({ value }: StoredItem): number {
  const change = isJsonObject(value) ? member(value, "change") : undefined;
  return typeof change === "number" ? change : 0;
}
