import { isJsonObject, type JsonObject, member } from "../../protocol/index.ts";
import type { KeyValueStore, StoredItem } from "../ledger/index.ts";
import { type Refusal, refusal, type UsedUp } from "./decision.ts";

/** A request that counts once: what became of it is stored under this id. */
export interface OnceKey {
  readonly id: string;
  readonly expiresAt: number;
}

/** A refusal that is stored and told again. */
export interface StoredRefusal extends Refusal {
  readonly details?: JsonObject;
}

const KIND = "decision-outcome";
const DONE = { done: true };

/** How a decision with a key is judged, and read again. */
export interface JudgedOnce<T> {
  readonly judge: (uses: UsedUp) => Promise<T | StoredRefusal>;
  readonly again: () => Promise<T | StoredRefusal>;
}

/**
 * Judges a decision that has a key, unless its outcome is known: a request that comes again decides nothing, even if its
 * vote was withdrawn or a rule was changed meanwhile. `judge` commits the key with the decision, and returns or throws;
 * what it throws is not stored. `again` shows what was decided as it is now.
 */
export async function judgeOnce<T extends { readonly ok: true; readonly repeated: boolean }>(
  { items }: { readonly items: Pick<KeyValueStore, "get" | "put"> },
  { id, expiresAt }: OnceKey,
  { judge, again }: JudgedOnce<T>,
): Promise<T | StoredRefusal> {
  const replay = ({ value }: StoredItem): Promise<T | StoredRefusal> | StoredRefusal =>
    isJsonObject(value) && member(value, "done") === true ? again() : (value as unknown as StoredRefusal);
  const known = await items.get(KIND, id);
  if (known !== undefined) return replay(known);
  const use: UsedUp["use"] = (value) => (value === undefined ? DONE : undefined);
  const judged = await judge({ kind: KIND, id, expiresAt, isNew: true, use });
  // The decision's own commit stored the key.
  if (judged.ok && !judged.repeated) return judged;
  const value = judged.ok ? DONE : toStored(judged);
  if (await items.put({ kind: KIND, id, value, expiresAt }, 0)) return judged;
  // The same request was judged at the same time.
  const meanwhile = await items.get(KIND, id);
  return meanwhile === undefined ? judged : replay(meanwhile);
}

function toStored({ code, message, field, details }: StoredRefusal): JsonObject {
  return {
    ...refusal(code, message),
    ...(field === undefined ? {} : { field }),
    ...(details === undefined ? {} : { details }),
  };
}
