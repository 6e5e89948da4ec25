import { type Ledger, type LoginMode, setLoginMode } from "../../engine/index.ts";
import { CountersignError } from "../../protocol/index.ts";
import { type Scope, USUAL_SCOPES } from "../scopes.ts";
import type { Auth } from "./auth.ts";
import { type BearerReader, bearerOf, type Known } from "./bearer.ts";
import { cookieForm, cookieOf } from "./cookie.ts";
import { takeLoginLink } from "./login-links.ts";
import { LOGIN_COOKIE, loginRoutes, type Proof } from "./login-routes.ts";
import { Logins } from "./logins.ts";
import { noAuth } from "./no-auth.ts";
import { type ClaimNames, toPerson } from "./oidc/claims.ts";
import { Issuer } from "./oidc/issuer.ts";
import { OidcLogin } from "./oidc/oidc-login.ts";
import { loadJose, loadOAuth } from "./peers.ts";
import { proofOf } from "./proof.ts";
import { Tokens } from "./tokens.ts";

const HOUR_MS = 3_600_000;

/** The OIDC issuer and what its tokens mean. */
export interface OidcOptions extends ClaimNames {
  /** The issuer's URL, exactly as it writes it; its configuration is found below it. */
  readonly issuer: string;
  /** The required audience of bearer tokens. */
  readonly audience: string | readonly string[];
  /** This server's client id at the issuer; with it people can log in by browser. Needs `publicUrl`. */
  readonly client?: { readonly id: string; readonly secret?: string };
  /**
   * The scopes of people to whom the issuer gives none of ours (`countersign:run`, `countersign:decide` and so on).
   * Default: a bearer token gets none; a browser login gets run, read and decide.
   */
  readonly defaultScopes?: readonly Scope[];
  /** How long a browser login lasts before the issuer is asked again, also for the roles. Default: an hour. */
  readonly loginMaxAgeMs?: number;
  /** How long unknown keys are not requested again from the issuer. */
  readonly keysCooldownMs?: number;
}

/** Options of {@link createAuth}. */
export interface AuthOptions {
  readonly mode: LoginMode;
  /** Stores tokens, logins and links, so that every server of this ledger knows them. */
  readonly ledger: Pick<Ledger, "items">;
  /** The public URL of this server, including its base path. */
  readonly publicUrl?: string;
  /** For the mode `oidc`. */
  readonly oidc?: OidcOptions;
  readonly now?: () => number;
}

/**
 * Creates one of the ways to log in. `none`: no login. `local`: by the link of {@link createLoginLink}, or a token.
 * `tokens`: by a token, as a bearer or once for a cookie. `oidc`: by an issuer's token or login, or one of our tokens.
 * Throws `invalid-option` if something is missing, and `missing-package` without jose, or without oauth4webapi if
 * people log in by browser.
 */
export async function createAuth({
  mode,
  ledger,
  publicUrl,
  oidc,
  now = Date.now,
}: AuthOptions): Promise<Auth> {
  if (mode === "none") return noAuth;
  // Stored, so that the command line and other servers of this ledger do not bypass the login.
  await setLoginMode(ledger.items, mode);
  const tokens = new Tokens(ledger.items, now);
  const logins = new Logins(ledger.items, now);
  const readers: BearerReader[] = [(credential) => tokens.read(credential)];
  let browserLogin: OidcLogin | undefined;
  if (mode === "oidc") {
    if (oidc === undefined) throw invalid("oidc", "--auth oidc needs an issuer and an audience.");
    await loadJose();
    if (oidc.client !== undefined) await loadOAuth();
    const issuer = new Issuer(oidc.issuer, oidc.keysCooldownMs);
    readers.push((credential) => readSigned(issuer, oidc, credential));
    browserLogin = loginAt(issuer, oidc, { ledger, publicUrl, now });
  }
  const read: BearerReader = async (credential) => {
    for (const reader of readers) {
      const known = await reader(credential);
      if (known !== undefined) return known;
    }
    return undefined;
  };
  const prove = async (proof: Proof): Promise<Known | undefined> => {
    if ("token" in proof) return read(proof.token);
    const principal = mode === "local" ? await takeLoginLink(ledger, proof.link) : undefined;
    return principal && { principal };
  };
  const cookie = cookieForm(publicUrl, LOGIN_COOKIE, "Strict");
  return {
    name: mode,
    authenticate: async (request) => {
      // If a credential was sent, only that one counts: a cookie does not replace an invalid one.
      if (request.headers.has("authorization")) return (await read(bearerOf(request) ?? ""))?.principal;
      const secret = cookieOf(request, cookie);
      return secret === undefined ? undefined : logins.find({ cookie: secret, proof: proofOf(request) });
    },
    login: loginRoutes({ logins, publicUrl, prove, now, ...(browserLogin && { oidc: browserLogin }) }),
  };
}

async function readSigned(issuer: Issuer, oidc: OidcOptions, credential: string): Promise<Known | undefined> {
  if (!/^[\w-]+\.[\w-]+\.[\w-]*$/.test(credential)) return undefined;
  const claims = await issuer.verify(credential, { audience: oidc.audience, use: "access" });
  const principal = claims && toPerson(claims, oidc, oidc.defaultScopes ?? []);
  return principal && { principal, until: (claims.exp ?? 0) * 1000 };
}

function loginAt(
  issuer: Issuer,
  { client, audience, defaultScopes: scopes = USUAL_SCOPES, loginMaxAgeMs, ...claims }: OidcOptions,
  {
    ledger,
    publicUrl,
    now,
  }: {
    readonly ledger: Pick<Ledger, "items">;
    readonly publicUrl: string | undefined;
    readonly now: () => number;
  },
): OidcLogin | undefined {
  if (client === undefined) return undefined;
  if (publicUrl === undefined) throw invalid("publicUrl", "Browser login with OIDC needs `publicUrl`.");
  if ([audience].flat().includes(client.id)) {
    const message = `The audience must differ from the client id "${client.id}": otherwise an ID token would also work as an access token. Register a separate audience for the API.`;
    throw invalid("audience", message);
  }
  const maxAgeMs = loginMaxAgeMs ?? HOUR_MS;
  const returnTo = `${publicUrl.replace(/\/+$/, "")}/auth/callback`;
  return new OidcLogin({ store: ledger.items, issuer, client, returnTo, claims, scopes, maxAgeMs, now });
}

function invalid(field: string, message: string): CountersignError {
  return new CountersignError("invalid-option", message, { details: { field } });
}
