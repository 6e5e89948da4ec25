import type { ItemVersion } from "../ledger/index.ts";
import type { ItemChange } from "./store.ts";

/** What a commit does outside of its session. */
export interface Outside {
  readonly items: readonly ItemChange[];
  readonly checks: readonly ItemVersion[] | undefined;
}

/**
 * Each item that is judged by its version once, so that no store has to write and check one row twice: the last write
 * counts, and a write also checks. Undefined if two parts of the commit rely on different versions: one of them is stale.
 */
export function onceEach({ items, checks = [] }: Outside): Outside | undefined {
  const written = new Map<string, ItemChange>();
  const laid: ItemChange[] = [];
  for (const item of items) {
    if (item.read === undefined) laid.push(item);
    else if ((written.get(nameOf(item))?.read ?? item.read) !== item.read) return undefined;
    else written.set(nameOf(item), item);
  }
  const checked = new Map<string, ItemVersion>();
  for (const item of checks) {
    const name = nameOf(item);
    const known = written.get(name)?.read ?? checked.get(name)?.version ?? item.version;
    if (known !== item.version) return undefined;
    if (!written.has(name)) checked.set(name, item);
  }
  return {
    items: [...laid, ...written.values()],
    checks: checked.size === 0 ? undefined : [...checked.values()],
  };
}

function nameOf({ kind, id }: Pick<ItemVersion, "kind" | "id">): string {
  return `${kind}\n${id}`;
}
