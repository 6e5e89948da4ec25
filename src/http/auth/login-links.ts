import type { KeyValueStore, Principal } from "../../engine/index.ts";
import { SCOPES } from "../scopes.ts";
import { hashSecret, newSecret } from "./secrets.ts";

const KIND = "login-link";
const GOOD_FOR_MS = 60 * 60 * 1000;

export interface LoginLinkOptions {
  readonly ledger: KeyValueStore;
  /** Where people's browsers reach this server, its base path included. */
  readonly publicUrl: string;
  /** Whom the link logs in, as `local:<os user>`. */
  readonly user: string;
  readonly now?: () => number;
}

/**
 * An address that logs one browser in, once, within an hour. Its secret stands behind a `#`, so it is in no log and no
 * referrer, and opening it does nothing: the page asks for a click.
 */
export async function createLoginLink({
  ledger,
  publicUrl,
  user,
  now = Date.now,
}: LoginLinkOptions): Promise<string> {
  const secret = newSecret();
  await ledger.putItem({ kind: KIND, id: idOf(secret), value: { user }, expiresAt: now() + GOOD_FOR_MS }, 0);
  return `${publicUrl.replace(/\/+$/, "")}/auth/login#${secret}`;
}

/** Uses a link up. Of any number that try, one is told whom it logs in. */
export async function takeLoginLink(ledger: KeyValueStore, secret: string): Promise<Principal | undefined> {
  const item = await ledger.item(KIND, idOf(secret));
  if (item === undefined || !(await ledger.removeItem(item))) return undefined;
  const { user } = item.value as { readonly user: string };
  return { id: user, kind: "local", roles: [], scopes: SCOPES, authenticated: true };
}

function idOf(secret: string): string {
  return hashSecret(KIND, secret);
}
