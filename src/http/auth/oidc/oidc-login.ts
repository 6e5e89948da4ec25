import { z } from "zod";
import type { KeyValueStore } from "../../../engine/index.ts";
import { CountersignError } from "../../../protocol/index.ts";
import type { Scope } from "../../scopes.ts";
import type { Known } from "../bearer.ts";
import { loadOAuth } from "../peers.ts";
import { hashSecret, isSameSecret, newSecret } from "../secrets.ts";
import { type ClaimNames, toPerson } from "./claims.ts";
import { ALGORITHMS, CLOCK_SKEW_SECONDS, type Issuer } from "./issuer.ts";

const KIND = "oidc-login";
/** How long somebody may take at the issuer. */
export const AWAY_MS: number = 10 * 60 * 1000;
const ANSWER_WITHIN_MS = 10_000;

const STORED = z.object({ nonce: z.string(), verifier: z.string(), browser: z.string() });
type Left = z.infer<typeof STORED>;

export interface OidcLoginOptions {
  readonly store: KeyValueStore;
  readonly issuer: Issuer;
  readonly client: { readonly id: string; readonly secret?: string };
  /** Where the issuer sends the browser back to. */
  readonly returnTo: string;
  readonly claims: ClaimNames;
  /** What somebody may use to whom the issuer gives none of our scopes. */
  readonly scopes: readonly Scope[];
  /** How long the issuer's information about a person is valid; then they must log in again. */
  readonly maxAgeMs: number;
  readonly now: () => number;
}

/**
 * The browser login at an issuer: authorization code with PKCE. The state is stored in the ledger, so the browser may
 * return to another server, or after a restart.
 */
export class OidcLogin {
  readonly #options: OidcLoginOptions;

  constructor(options: OidcLoginOptions) {
    this.#options = options;
  }

  /** Where to send a browser. `browser` is a secret for its cookie: only the same browser may return. */
  async begin(): Promise<{ readonly location: string; readonly browser: string }> {
    const { store, issuer, client, returnTo, now } = this.#options;
    const { authorization_endpoint: address, token_endpoint: exchange } = await issuer.configuration();
    if (address === undefined) throw noLogin("authorization_endpoint");
    if (exchange === undefined) throw noLogin("token_endpoint");
    const { calculatePKCECodeChallenge } = await loadOAuth();
    const [state, nonce, verifier, browser] = [newSecret(), newSecret(), newSecret(), newSecret()];
    const value = { nonce, verifier, browser: hashSecret(KIND, browser) };
    await store.put({ kind: KIND, id: hashSecret(KIND, state), value, expiresAt: now() + AWAY_MS }, 0);
    const location = new URL(address);
    const query = {
      response_type: "code",
      client_id: client.id,
      redirect_uri: returnTo,
      scope: "openid email profile",
      state,
      nonce,
      code_challenge: await calculatePKCECodeChallenge(verifier),
      code_challenge_method: "S256",
    };
    for (const [name, text] of Object.entries(query)) location.searchParams.set(name, text);
    return { location: location.href, browser };
  }

  /** Who returned; undefined for a state that is not ours, was already used, or belongs to another browser. */
  async finish(query: URLSearchParams, browser: string | undefined): Promise<Known | undefined> {
    const { issuer, client, claims, scopes, maxAgeMs, now } = this.#options;
    const left = await this.#take(query.get("state") ?? "", browser ?? "");
    if (left === undefined) return undefined;
    const token = await this.#exchange(query, left);
    const wanted = { audience: client.id, use: "identity" } as const;
    const verified = token === undefined ? undefined : await issuer.verify(token, wanted);
    // The library compares `azp` only if there are several audiences.
    if (verified === undefined || (verified["azp"] ?? client.id) !== client.id) return undefined;
    const principal = toPerson(verified, claims, scopes);
    return principal && { principal, until: now() + maxAgeMs };
  }

  // Once, and only by the same browser: for any other it is not consumed.
  async #take(state: string, browser: string): Promise<Left | undefined> {
    const { store } = this.#options;
    const item = await store.get(KIND, hashSecret(KIND, state));
    const left = STORED.safeParse(item?.value);
    if (item === undefined || !left.success) return undefined;
    if (!isSameSecret(left.data.browser, hashSecret(KIND, browser))) return undefined;
    return (await store.remove(item)) ? left.data : undefined;
  }

  // Undefined for a refusal, and for what the protocol does not allow. The signature is checked later, by the issuer's keys.
  async #exchange(query: URLSearchParams, { nonce, verifier }: Left): Promise<string | undefined> {
    const { issuer, returnTo } = this.#options;
    const { id, secret } = this.#options.client;
    const oauth = await loadOAuth();
    const algorithms = { id_token_signing_alg_values_supported: [...ALGORITHMS] };
    const server = { ...(await issuer.configuration()), ...algorithms };
    const client = { client_id: id, [oauth.clockTolerance]: CLOCK_SKEW_SECONDS };
    const auth = secret === undefined ? oauth.None() : oauth.ClientSecretPost(secret);
    const options = {
      signal: AbortSignal.timeout(ANSWER_WITHIN_MS),
      // `Issuer` allows plain http on this machine only.
      [oauth.allowInsecureRequests]: true,
    };
    try {
      // The state has been checked: it found the login.
      const code = oauth.validateAuthResponse(server, client, query, oauth.skipStateCheck);
      const request = [server, client, auth, code, returnTo, verifier, options] as const;
      const answer = await oauth.authorizationCodeGrantRequest(...request);
      const expected = { expectedNonce: nonce, requireIdToken: true };
      return (await oauth.processAuthorizationCodeResponse(server, client, answer, expected)).id_token;
    } catch (error) {
      if (isRefusal(error)) return undefined;
      throw error;
    }
  }
}

function isRefusal(error: unknown): boolean {
  return error instanceof Error && "code" in error && String(error.code).startsWith("OAUTH_");
}

function noLogin(what: string): CountersignError {
  return new CountersignError(
    "unauthenticated",
    `The issuer's configuration has no ${what}. Log in with a token instead.`,
  );
}
