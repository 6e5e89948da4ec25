import { CountersignError, isJsonObject, member } from "../../protocol/index.ts";
import type { KeyValueStore, StoredItem } from "../ledger/index.ts";

/** How people prove who they are to the servers of a ledger. */
export type LoginMode = "none" | "local" | "tokens" | "oidc";

export const LOGIN_MODES: readonly LoginMode[] = ["none", "local", "tokens", "oidc"];

const KEY = { kind: "settings", id: "auth" } as const;

/**
 * How people log in to the servers of this ledger; `none` if there was no server yet. Throws if the stored value cannot
 * be read.
 */
export async function loginModeOf(store: Pick<KeyValueStore, "get">): Promise<LoginMode> {
  return modeIn(await store.get(KEY.kind, KEY.id));
}

/**
 * Stores how people log in, for every other way in to this ledger. Going back to `none` throws `forbidden` unless
 * `breakGlass` is set, so that a login is not lost by accident. On disk when it resolves.
 */
export async function setLoginMode(
  store: Pick<KeyValueStore, "get" | "put">,
  mode: LoginMode,
  { breakGlass = false }: { readonly breakGlass?: boolean } = {},
): Promise<void> {
  for (;;) {
    const item = await store.get(KEY.kind, KEY.id);
    const current = modeIn(item);
    if (current === mode) return;
    if (mode === "none" && !breakGlass) {
      throw new CountersignError(
        "forbidden",
        `This ledger requires a login (--auth ${current}). Use --auth ${current}, or --break-glass to remove the requirement.`,
      );
    }
    if (await store.put({ ...KEY, value: { mode } }, item?.version ?? 0)) return;
  }
}

function modeIn(item: StoredItem | undefined): LoginMode {
  if (item === undefined) return "none";
  const stored = isJsonObject(item.value) ? member(item.value, "mode") : undefined;
  const mode = LOGIN_MODES.find((known) => known === stored);
  if (mode !== undefined) return mode;
  throw new CountersignError("internal", "The ledger's login mode cannot be read.");
}
