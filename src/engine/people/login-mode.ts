import { CountersignError, isJsonObject, member } from "../../protocol/index.ts";
import type { KeyValueStore, StoredItem } from "../ledger/index.ts";

/** How people prove who they are to the servers of a ledger. */
export type LoginMode = "none" | "local" | "tokens" | "oidc";

export const LOGIN_MODES: readonly LoginMode[] = ["none", "local", "tokens", "oidc"];

/** `host`: the login of a program that serves this ledger as a part of itself. */
export type StoredLogin = LoginMode | "host";

const KEY = { kind: "settings", id: "auth" } as const;

/**
 * How people log in to the servers of this ledger; `none` if there was no server yet. Throws if the stored value cannot
 * be read.
 */
export async function loginModeOf(store: Pick<KeyValueStore, "get">): Promise<StoredLogin> {
  return modeIn(await store.get(KEY.kind, KEY.id));
}

/**
 * Stores how people log in, for every other way in to this ledger. Going back to `none` throws `forbidden` unless
 * `breakGlass` is set, so that a login is not lost by accident. `host` does not replace a login of our own. On disk when
 * it resolves.
 */
export async function setLoginMode(
  store: Pick<KeyValueStore, "get" | "put">,
  mode: StoredLogin,
  { breakGlass = false }: { readonly breakGlass?: boolean } = {},
): Promise<void> {
  for (;;) {
    const item = await store.get(KEY.kind, KEY.id);
    const current = modeIn(item);
    if (current === mode || (mode === "host" && current !== "none")) return;
    if (mode === "none" && !breakGlass) throw requiresLogin(current);
    if (await store.put({ ...KEY, value: { mode } }, item?.version ?? 0)) return;
  }
}

function requiresLogin(current: StoredLogin): CountersignError {
  const [login, use] =
    current === "host"
      ? ["the login of the application that serves it", "--auth local, tokens or oidc"]
      : [`--auth ${current}`, `--auth ${current}`];
  const message = `This ledger requires a login (${login}). Use ${use}, or --break-glass to remove the requirement.`;
  return new CountersignError("forbidden", message);
}

function modeIn(item: StoredItem | undefined): StoredLogin {
  if (item === undefined) return "none";
  const stored = isJsonObject(item.value) ? member(item.value, "mode") : undefined;
  const mode = [...LOGIN_MODES, "host" as const].find((known) => known === stored);
  if (mode !== undefined) return mode;
  throw new CountersignError("internal", "The ledger's login mode cannot be read.");
}
