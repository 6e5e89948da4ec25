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
  const versions = new Map<string, number>();
  const isSame = ({ kind, id }: Named, version: number): boolean => {
    const name = nameOf({ kind, id });
    const known = versions.get(name) ?? version;
    versions.set(name, known);
    return known === version;
  };
  const judged = items.filter(({ read }) => read !== undefined);
  if (!judged.every((item) => isSame(item, item.read ?? 0))) return undefined;
  if (!checks.every((item) => isSame(item, item.version))) return undefined;
  const written = new Map(judged.map((item) => [nameOf(item), item]));
  const checked = new Map(checks.map((item) => [nameOf(item), item]));
  for (const name of written.keys()) checked.delete(name);
  return {
    items: [...items.filter(({ read }) => read === undefined), ...written.values()],
    checks: checked.size === 0 ? undefined : [...checked.values()],
  };
}

type Named = Pick<ItemVersion, "kind" | "id">;

function nameOf({ kind, id }: Named): string {
  return `${kind}\n${id}`;
}
