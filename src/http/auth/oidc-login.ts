import { createHash } from "node:crypto";
import { z } from "zod";
import type { Shelf } from "../../engine/index.ts";
import { CountersignError } from "../../protocol/index.ts";
import type { Scope } from "../scopes.ts";
import type { Known } from "./bearer.ts";
import { type ClaimNames, toPerson } from "./claims.ts";
import type { Issuer } from "./issuer.ts";
import { hashSecret, isSameSecret, newSecret } from "./secrets.ts";

const KIND = "oidc-login";
/** How long somebody may take at the issuer. */
export const AWAY_MS: number = 10 * 60 * 1000;
const ANSWER_WITHIN_MS = 10_000;

const STORED = z.object({ nonce: z.string(), verifier: z.string(), browser: z.string() });
const GRANTED = z.object({ id_token: z.string() });

export interface OidcLoginOptions {
  readonly shelf: Shelf;
  readonly issuer: Issuer;
  readonly client: { readonly id: string; readonly secret?: string };
  /** Where the issuer sends the browser back to. */
  readonly returnTo: string;
  readonly claims: ClaimNames;
  /** What somebody may use to whom the issuer gives none of our scopes. */
  readonly scopes: readonly Scope[];
  /** How long what the issuer said of somebody is believed; then they have to go there again. */
  readonly maxAgeMs: number;
  readonly now: () => number;
}

/**
 * The browser's way through an issuer: authorization code with PKCE. What has to be remembered meanwhile is on the
 * ledger, so the browser may come back to another server, or after a restart.
 */
export class OidcLogin {
  readonly #options: OidcLoginOptions;

  constructor(options: OidcLoginOptions) {
    this.#options = options;
  }

  /** Where to send a browser. `browser` is a secret for its cookie: only whoever left may come back. */
  async begin(): Promise<{ readonly location: string; readonly browser: string }> {
    const { shelf, issuer, client, returnTo, now } = this.#options;
    const { authorization_endpoint: address } = await issuer.configuration();
    if (address === undefined) throw noLogin("authorization_endpoint");
    const [state, nonce, verifier, browser] = [newSecret(), newSecret(), newSecret(), newSecret()];
    const value = { nonce, verifier, browser: hashSecret(KIND, browser) };
    await shelf.keep({ kind: KIND, id: hashSecret(KIND, state), value, expiresAt: now() + AWAY_MS }, 0);
    const location = new URL(address);
    const query = {
      response_type: "code",
      client_id: client.id,
      redirect_uri: returnTo,
      scope: "openid email profile",
      state,
      nonce,
      code_challenge: createHash("sha256").update(verifier).digest("base64url"),
      code_challenge_method: "S256",
    };
    for (const [name, text] of Object.entries(query)) location.searchParams.set(name, text);
    return { location: location.href, browser };
  }

  /** Who came back; undefined for a state that is not ours, was used before, or is another browser's. */
  async finish(query: URLSearchParams, browser: string | undefined): Promise<Known | undefined> {
    const { issuer, client, claims, scopes, maxAgeMs, now } = this.#options;
    const left = await this.#take(query.get("state") ?? "", browser ?? "");
    const code = query.get("code");
    if (left === undefined || code === null) return undefined;
    const token = await this.#exchange(code, left.verifier);
    const wanted = { audience: client.id, use: "identity" } as const;
    const verified = token === undefined ? undefined : await issuer.verify(token, wanted);
    if (verified === undefined || verified["nonce"] !== left.nonce) return undefined;
    if (!isForClient(verified, client.id)) return undefined;
    const principal = toPerson(verified, claims, scopes);
    return principal && { principal, until: now() + maxAgeMs };
  }

  // Once, and only by the browser that left: for any other it stays.
  async #take(state: string, browser: string): Promise<z.infer<typeof STORED> | undefined> {
    const { shelf } = this.#options;
    const item = await shelf.kept(KIND, hashSecret(KIND, state));
    const left = STORED.safeParse(item?.value);
    if (item === undefined || !left.success) return undefined;
    if (!isSameSecret(left.data.browser, hashSecret(KIND, browser))) return undefined;
    return (await shelf.discard(item)) ? left.data : undefined;
  }

  async #exchange(code: string, verifier: string): Promise<string | undefined> {
    const { issuer, client, returnTo } = this.#options;
    const { token_endpoint: address } = await issuer.configuration();
    if (address === undefined) throw noLogin("token_endpoint");
    const body = new URLSearchParams({
      grant_type: "authorization_code",
      code,
      redirect_uri: returnTo,
      client_id: client.id,
      code_verifier: verifier,
      ...(client.secret === undefined ? {} : { client_secret: client.secret }),
    });
    const signal = AbortSignal.timeout(ANSWER_WITHIN_MS);
    const answer = await fetch(address, { method: "POST", body, signal, redirect: "error" });
    const read = GRANTED.safeParse(await answer.json().catch(() => undefined));
    return answer.ok && read.success ? read.data.id_token : undefined;
  }
}

// Made for several, it says for which of them it was asked.
function isForClient({ aud, azp }: { readonly [name: string]: unknown }, client: string): boolean {
  return azp === undefined ? !Array.isArray(aud) || aud.length === 1 : azp === client;
}

function noLogin(what: string): CountersignError {
  return new CountersignError("unauthenticated", `The issuer names no ${what}; log in with a token instead.`);
}
