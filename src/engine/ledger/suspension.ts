import { CountersignError, isJsonObject, type JsonObject, member } from "../../protocol/index.ts";
import type { KeyValueStore, StoredItem } from "./key-value-store.ts";

/**
 * While a ledger has this item, every store refuses commits that name an owner: no call and no step starts, in whichever
 * process. What runs may end. A store resolves the change that puts it only when no earlier claim can still be made.
 */
export const SUSPENSION = { kind: "tenant", id: "suspended" } as const;

/**
 * Suspends a ledger. `change` is the number of the change of the registry that ordered it: what a later one ordered stays as
 * it is.
 */
export async function suspendLedger(items: KeyValueStore, why: JsonObject, change = 0): Promise<void> {
  for (;;) {
    const found = await items.get(SUSPENSION.kind, SUSPENSION.id);
    if (found !== undefined && changeIn(found) > change) return;
    // Put again even if it is there: only the store's answer says that no earlier claim can still be made.
    if (await items.put({ ...SUSPENSION, value: { ...why, change } }, found?.version ?? 0)) return;
  }
}

/** Lets calls start again, unless a change of the registry after this one suspended the ledger. */
export async function resumeLedger(items: KeyValueStore, change: number = Infinity): Promise<void> {
  for (;;) {
    const found = await items.get(SUSPENSION.kind, SUSPENSION.id);
    if (found === undefined || changeIn(found) > change) return;
    if (await items.remove({ ...SUSPENSION, version: found.version })) return;
  }
}

/** The refusal of whatever would start something. */
export function suspendedError(name?: string): CountersignError {
  const who = name === undefined ? "This tenant" : `The tenant "${name}"`;
  return new CountersignError(
    "suspended",
    `${who} is suspended: nothing is read, decided or started. Ask the operator.`,
  );
}

function changeIn({ value }: StoredItem): number {
  const change = isJsonObject(value) ? member(value, "change") : undefined;
  return typeof change === "number" ? change : 0;
}
