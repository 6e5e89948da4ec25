import type { Ledger, Principal } from "../../engine/index.ts";
import { SCOPES } from "../scopes.ts";
import { hashSecret, newSecret } from "./secrets.ts";

const KIND = "login-link";
const GOOD_FOR_MS = 60 * 60 * 1000;

/** Options of {@link createLoginLink}. */
export interface LoginLinkOptions {
  readonly ledger: Pick<Ledger, "items">;
  /** The public URL of this server, including its base path. */
  readonly publicUrl: string;
  /** The person that the link logs in, as `local:<os user>`. */
  readonly user: string;
  readonly now?: () => number;
}

/**
 * A link that logs in one browser, once, within an hour. Its secret is after a `#`, so it is in no log and no referrer.
 * Opening it does nothing: the page asks for a click.
 */
export async function createLoginLink({
  ledger,
  publicUrl,
  user,
  now = Date.now,
}: LoginLinkOptions): Promise<string> {
  const secret = newSecret();
  await ledger.items.put(
    { kind: KIND, id: idOf(secret), value: { user }, expiresAt: now() + GOOD_FOR_MS },
    0,
  );
  return `${publicUrl.replace(/\/+$/, "")}/auth/login#${secret}`;
}

/** Uses up a link. If several requests race, only one succeeds. */
export async function takeLoginLink(
  ledger: Pick<Ledger, "items">,
  secret: string,
): Promise<Principal | undefined> {
  const item = await ledger.items.get(KIND, idOf(secret));
  if (item === undefined || !(await ledger.items.remove(item))) return undefined;
  const { user } = item.value as { readonly user: string };
  return { id: user, kind: "local", roles: [], scopes: SCOPES, authenticated: true };
}

function idOf(secret: string): string {
  return hashSecret(KIND, secret);
}
