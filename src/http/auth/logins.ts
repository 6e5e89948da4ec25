import { z } from "zod";
import type { Principal, Shelf } from "../../engine/index.ts";
import type { JsonObject } from "../../protocol/index.ts";
import type { Known } from "./bearer.ts";
import { LONGEST_LOGIN_MS } from "./cookie.ts";
import { hashSecret, newSecret } from "./secrets.ts";
import type { Tokens } from "./tokens.ts";

const KIND = "login";
const IDLE_MS = 12 * 60 * 60 * 1000;
/** It slides in steps, so that a busy page does not write at every request. */
const STEP_MS = 60 * 60 * 1000;

const STORED = z.object({
  principal: z.object({
    id: z.string(),
    kind: z.enum(["local", "token", "oidc", "agent"]),
    roles: z.array(z.string()),
    scopes: z.array(z.string()),
    authenticated: z.boolean(),
  }),
  token: z.string().exactOptional(),
  createdAt: z.number(),
});

/** Browsers that logged in. Kept on the ledger, so a restart or another server knows them too. */
export class Logins {
  readonly #shelf: Shelf;
  readonly #tokens: Tokens;
  readonly #now: () => number;

  constructor(shelf: Shelf, tokens: Tokens, now: () => number) {
    this.#shelf = shelf;
    this.#tokens = tokens;
    this.#now = now;
  }

  /** Begins a login, and gives the cookie's value; only its hash is kept. */
  async begin({ principal, token }: Known): Promise<string> {
    const secret = newSecret();
    const now = this.#now();
    const value = { principal, createdAt: now, ...(token === undefined ? {} : { token }) };
    await this.#shelf.keep(
      { kind: KIND, id: idOf(secret), value: value as unknown as JsonObject, expiresAt: now + IDLE_MS },
      0,
    );
    return secret;
  }

  /** Who logged in with this cookie; undefined if nobody, if it was idle for 12 hours, or is over 7 days old. */
  async find(secret: string): Promise<Principal | undefined> {
    const item = await this.#shelf.kept(KIND, idOf(secret));
    const login = STORED.safeParse(item?.value);
    if (item === undefined || !login.success) return undefined;
    const { principal, token, createdAt } = login.data;
    // What a token allows may have changed since, and a revoked one allows nothing.
    const known = token === undefined ? { principal } : await this.#tokens.holder(token);
    if (known === undefined) return undefined;
    const now = this.#now();
    const until = Math.min(now + IDLE_MS, createdAt + LONGEST_LOGIN_MS);
    // Somebody else may have moved it at the same moment; then it was moved.
    if (until - (item.expiresAt ?? 0) >= STEP_MS)
      await this.#shelf.keep({ ...item, expiresAt: until }, item.version);
    return known.principal;
  }

  /** Ends a login. */
  async end(secret: string): Promise<void> {
    for (;;) {
      const item = await this.#shelf.kept(KIND, idOf(secret));
      if (item === undefined || (await this.#shelf.discard(item))) return;
    }
  }
}

function idOf(secret: string): string {
  return hashSecret(KIND, secret);
}
