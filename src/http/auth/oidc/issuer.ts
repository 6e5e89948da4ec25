import type * as Jose from "jose";
import { z } from "zod";
import { CountersignError } from "../../../protocol/index.ts";
import { loadJose } from "../peers.ts";
import { isLoopback } from "../safe-bind.ts";
import { isMadeFor, type TokenUse } from "./token-use.ts";

/** Only asymmetric algorithms: with a symmetric one, everyone who knows the public key could sign. */
export const ALGORITHMS: readonly string[] = [
  "RS256",
  "RS384",
  "RS512",
  "PS256",
  "PS384",
  "PS512",
  "ES256",
  "ES384",
  "ES512",
  "EdDSA",
  "Ed25519",
];
export const CLOCK_SKEW_SECONDS = 60;
const ANSWER_WITHIN_MS = 5_000;

/** The part of an issuer's configuration that is used here. */
export interface IssuerConfiguration {
  readonly issuer: string;
  readonly jwks_uri: string;
  readonly authorization_endpoint?: string;
  readonly token_endpoint?: string;
  /** It names itself in its answers (RFC 9207). */
  readonly authorization_response_iss_parameter_supported?: boolean;
}

const CONFIGURATION: z.ZodType<IssuerConfiguration> = z.object({
  issuer: z.string(),
  jwks_uri: z.url(),
  authorization_endpoint: z.url().exactOptional(),
  token_endpoint: z.url().exactOptional(),
  authorization_response_iss_parameter_supported: z.boolean().exactOptional(),
});

/** An OpenID Connect issuer: its endpoints, and checks of its signatures. */
export class Issuer {
  readonly #url: string;
  readonly #keysCooldownMs: number;
  #configuration: Promise<IssuerConfiguration> | undefined;
  #keys: { readonly from: string; readonly find: ReturnType<typeof Jose.createRemoteJWKSet> } | undefined;

  /** Throws `invalid-option` for one that is reached over plain http on another machine. */
  constructor(url: string, keysCooldownMs = 30_000) {
    if (!isSafeAddress(url)) throw plainHttp(url);
    this.#url = url.replace(/\/+$/, "");
    this.#keysCooldownMs = keysCooldownMs;
  }

  /** Its configuration. Requested once; a failure is thrown, and the request is repeated the next time. */
  configuration(): Promise<IssuerConfiguration> {
    this.#configuration ??= this.#discover().catch((error: unknown) => {
      this.#configuration = undefined;
      throw error;
    });
    return this.#configuration;
  }

  /**
   * The claims of a token that this issuer signed for this use and this audience and that is valid now, with one minute
   * of tolerance; undefined for any other. Throws if the issuer cannot be reached.
   */
  async verify(
    token: string,
    { audience, use }: { readonly audience: string | readonly string[]; readonly use: TokenUse },
  ): Promise<Jose.JWTPayload | undefined> {
    const { issuer, jwks_uri } = await this.configuration();
    const { createRemoteJWKSet, errors, jwtVerify } = await loadJose();
    if (this.#keys?.from !== jwks_uri) {
      const find = createRemoteJWKSet(new URL(jwks_uri), { cooldownDuration: this.#keysCooldownMs });
      this.#keys = { from: jwks_uri, find };
    }
    try {
      const { payload, protectedHeader } = await jwtVerify(token, this.#keys.find, {
        issuer,
        audience: [audience].flat(),
        algorithms: [...ALGORITHMS],
        clockTolerance: CLOCK_SKEW_SECONDS,
        requiredClaims: ["exp", "sub"],
      });
      return isMadeFor(use, protectedHeader.typ, payload) ? payload : undefined;
    } catch (error) {
      // These errors are about the token. Errors of the issuer (down, slow) are not the bearer's fault.
      const aboutToken =
        error instanceof errors.JOSEError &&
        !(error instanceof errors.JWKSTimeout) &&
        error.code !== "ERR_JOSE_GENERIC";
      if (aboutToken) return undefined;
      throw unreachable(this.#url, error);
    }
  }

  async #discover(): Promise<IssuerConfiguration> {
    const address = `${this.#url}/.well-known/openid-configuration`;
    const signal = AbortSignal.timeout(ANSWER_WITHIN_MS);
    const answer = await fetch(address, { signal, redirect: "error" }).catch((error: unknown) => {
      throw unreachable(this.#url, error);
    });
    const read = CONFIGURATION.safeParse(await answer.json().catch(() => undefined));
    if (!answer.ok || !read.success) throw unreachable(this.#url, read.error);
    const { issuer, jwks_uri, authorization_endpoint, token_endpoint } = read.data;
    const addresses = [jwks_uri, authorization_endpoint, token_endpoint];
    const unsafe = addresses.find((named) => named !== undefined && !isSafeAddress(named));
    if (unsafe !== undefined) throw plainHttp(unsafe);
    if (issuer.replace(/\/+$/, "") === this.#url) return read.data;
    throw new CountersignError(
      "invalid-option",
      `The issuer at "${this.#url}" identifies itself as "${issuer}". Configure that name.`,
    );
  }
}

function isSafeAddress(address: string): boolean {
  const { protocol, hostname = "" } = URL.parse(address) ?? {};
  return protocol === "https:" || (protocol === "http:" && isLoopback(hostname));
}

function plainHttp(address: string): CountersignError {
  return new CountersignError(
    "invalid-option",
    `The issuer's address "${address}" is not https. Plain http is allowed only on this machine.`,
    { details: { field: "oidc-issuer" } },
  );
}

function unreachable(url: string, cause: unknown): CountersignError {
  return new CountersignError("unauthenticated", `The issuer "${url}" cannot be reached. Try again.`, {
    cause,
  });
}
