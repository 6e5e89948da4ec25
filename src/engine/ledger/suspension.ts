import { CountersignError, type JsonObject } from "../../protocol/index.ts";
import type { KeyValueStore } from "./key-value-store.ts";

/**
 * While a ledger has this item, every store refuses commits that name an owner: no call and no step starts, in whichever
 * process. What runs may end. A store resolves the change that puts it only when no earlier claim can still be made.
 */
export const SUSPENSION = { kind: "tenant", id: "suspended" } as const;

/** Suspends a ledger, if it is not suspended. */
export async function suspendLedger(items: KeyValueStore, why: JsonObject): Promise<void> {
  while (!(await items.put({ ...SUSPENSION, value: why }, await versionIn(items))));
}

/** Lets calls start again. */
export async function resumeLedger(items: KeyValueStore): Promise<void> {
  for (let version = await versionIn(items); version > 0; version = await versionIn(items))
    await items.remove({ ...SUSPENSION, version });
}

/** The refusal of whatever would start something. */
export function suspendedError(name?: string): CountersignError {
  const who = name === undefined ? "This tenant" : `The tenant "${name}"`;
  return new CountersignError(
    "suspended",
    `${who} is suspended: nothing is read, decided or started. Ask the operator.`,
  );
}

async function versionIn(items: KeyValueStore): Promise<number> {
  return (await items.get(SUSPENSION.kind, SUSPENSION.id))?.version ?? 0;
}
