import { CountersignError, isJsonObject, member } from "../../protocol/index.ts";
import type { KeptItem, Shelf } from "../ledger/index.ts";

/** How people prove who they are to the servers of a ledger. */
export type LoginMode = "none" | "local" | "tokens" | "oidc";

export const LOGIN_MODES: readonly LoginMode[] = ["none", "local", "tokens", "oidc"];

const KEY = { kind: "settings", id: "auth" } as const;

/** How the last server of this ledger let people log in; `none` where there was none. What cannot be read throws. */
export async function loginModeOf(shelf: Pick<Shelf, "kept">): Promise<LoginMode> {
  return modeIn(await shelf.kept(KEY.kind, KEY.id));
}

/**
 * Remembers how people log in, for every other door to this ledger. A ledger that has a login does not lose it in
 * passing: going back to `none` throws `forbidden` unless `breakGlass` is set. On disk when it resolves.
 */
export async function setLoginMode(
  shelf: Pick<Shelf, "kept" | "keep">,
  mode: LoginMode,
  { breakGlass = false }: { readonly breakGlass?: boolean } = {},
): Promise<void> {
  for (;;) {
    const item = await shelf.kept(KEY.kind, KEY.id);
    const standing = modeIn(item);
    if (standing === mode) return;
    if (mode === "none" && !breakGlass) {
      throw new CountersignError(
        "forbidden",
        `People log in to this ledger (--auth ${standing}), so it is not served without a login; use --auth ${standing}, or --break-glass to end that.`,
      );
    }
    if (await shelf.keep({ ...KEY, value: { mode } }, item?.version ?? 0)) return;
  }
}

function modeIn(item: KeptItem | undefined): LoginMode {
  if (item === undefined) return "none";
  const stored = isJsonObject(item.value) ? member(item.value, "mode") : undefined;
  const mode = LOGIN_MODES.find((known) => known === stored);
  if (mode !== undefined) return mode;
  throw new CountersignError("internal", "The ledger's login mode cannot be read.");
}
