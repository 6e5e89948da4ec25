import { LOGIN_MODES, type LoginMode } from "../../engine/index.ts";
import { assertSafeBind, isScope, SCOPES, type Scope } from "../../http/auth/index.ts";
import type { OidcOptions } from "../../http/index.ts";
import { CountersignError } from "../../protocol/index.ts";
import { CHANNELS_FLAG, type ChannelSettings, readChannelSettings } from "../channels/channel-settings.ts";
import type { Flags, Invocation } from "../command.ts";
import { parseDuration } from "../duration.ts";
import { POLICY_FLAG, policyFile } from "../policy/open-policy.ts";
import { ledgerUrl, listenUrl } from "../wiring.ts";

const DEFAULT_HOST = "127.0.0.1";
const DEFAULT_PORT = 8000;
const DEFAULT_DRAIN_SECONDS = 0;
const DEFAULT_GRACE_SECONDS = 25;
const DEFAULT_LOGIN_AGE = "1h";
const MOST_SECONDS = 86_400;
const MOST_PORT = 65_535;
const MOST_PROXIES = 10;

/** Options of the process, whatever it serves. */
export interface ListenOptions {
  readonly host: string;
  readonly port: number;
  /** Creates or updates the schema of a PostgreSQL ledger first. */
  readonly migrate: boolean;
  /** How many proxies are in front; each adds an entry to X-Forwarded-For. */
  readonly trustProxy: number;
  /** How long it still answers, but is not ready, when it is stopped. */
  readonly drainMs: number;
  readonly graceMs: number;
}

/** The options of `serve` and `demo`. */
export interface ServeOptions extends ListenOptions {
  readonly ledger: string;
  /** Signs decisions and the journal. */
  readonly secret?: string;
  /** The same ledger past a connection pooler. */
  readonly listenUrl?: string;
  /** The same ledger on standbys, for lists. */
  readonly readUrl?: string;
  readonly auth: LoginMode;
  readonly oidc?: OidcOptions;
  /** Ends the login of a ledger that has one. */
  readonly breakGlass: boolean;
  readonly publicUrl?: string;
  readonly channels: ChannelSettings;
  readonly webhook?: string;
  readonly webhookSecret?: string;
  readonly allowOrigins: readonly string[];
  /** Takes decisions over A2A from callers who log in and may decide. */
  readonly a2aDecisions: boolean;
  /** The file with the rules for all calls. */
  readonly policy?: string;
  /** The file with the rules by which content is erased. */
  readonly retention?: string;
  /** The file with the targets that receipts of the journal are published to. */
  readonly receipts?: string;
}

/** The flags of serving commands; each except --break-glass can also be set as COUNTERSIGN_<NAME>. */
export const SERVE_FLAGS: Flags = {
  host: { type: "string", value: "HOST", help: `the address to listen on (${DEFAULT_HOST})` },
  port: { type: "string", value: "PORT", help: `the port (${DEFAULT_PORT}); 0 picks a free port` },
  auth: {
    type: "string",
    value: "MODE",
    help: "none (loopback only), local (a login link), tokens or oidc (none)",
  },
  migrate: {
    type: "boolean",
    help: "migrate a PostgreSQL ledger first; without this, an outdated schema is refused",
  },
  "read-url": {
    type: "string",
    value: "URL",
    help: "standbys of a PostgreSQL ledger's server, from which lists may be read",
  },
  "break-glass": { type: "boolean", help: "serve without a login, although this ledger requires one" },
  "public-url": {
    type: "string",
    value: "URL",
    help: "the URL at which browsers reach this server; used in links",
  },
  "trust-proxy": {
    type: "string",
    value: "N",
    help: "the number of your proxies in front of this server that set X-Forwarded-For (0); used to tell callers apart",
  },
  webhook: {
    type: "string",
    value: "URL",
    help: "send a message here when a call waits (signed with COUNTERSIGN_WEBHOOK_SECRET, or with a generated secret)",
  },
  ...CHANNELS_FLAG,
  ...POLICY_FLAG,
  retention: {
    type: "string",
    value: "FILE",
    help: "erase content that the rules in this file no longer keep, on a schedule",
  },
  receipts: {
    type: "string",
    value: "FILE",
    help: "publish signed receipts of the journal's head to the targets in this file, on a schedule",
  },
  "allow-origin": {
    type: "string",
    value: "ORIGIN",
    help: "web origins that may call this server, separated by commas",
  },
  "a2a-decisions": {
    type: "boolean",
    help: "accept decisions over A2A from authenticated callers with the scope decide",
  },
  "oidc-issuer": { type: "string", value: "URL", help: "with --auth oidc: the token issuer" },
  "oidc-audience": {
    type: "string",
    value: "NAME",
    help: "with --auth oidc: the expected audience of the tokens",
  },
  "oidc-client-id": {
    type: "string",
    value: "ID",
    help: "lets browsers log in at the issuer (the client secret is COUNTERSIGN_OIDC_CLIENT_SECRET)",
  },
  "oidc-roles-claim": { type: "string", value: "PATH", help: "the claim that holds the roles (roles)" },
  "oidc-default-scopes": {
    type: "string",
    value: "A,B",
    help: `the scopes of a person whose token has no countersign:… scope (bearer tokens: none; browser logins: run,read,decide)`,
  },
  "oidc-login-age": {
    type: "string",
    value: "AGE",
    help: `how long a browser login lasts before the roles are read again from the issuer (${DEFAULT_LOGIN_AGE})`,
  },
  drain: {
    type: "string",
    value: "SECONDS",
    help: `when stopped, how long to keep answering while /readyz fails, so that load balancers notice (${DEFAULT_DRAIN_SECONDS})`,
  },
  grace: {
    type: "string",
    value: "SECONDS",
    help: `how long to wait for running calls when stopped (${DEFAULT_GRACE_SECONDS})`,
  },
};

/**
 * Reads flags, then COUNTERSIGN_… variables, then defaults. Throws `invalid-option` for invalid values, and for a
 * server without a login that others could reach.
 */
export function readServeOptions(invocation: Invocation, usualLedger?: string): ServeOptions {
  const listening = readListenOptions(invocation);
  const auth = authOf(settingOf(invocation, "auth") ?? "none");
  const publicUrl = urlOf("public-url", settingOf(invocation, "public-url"));
  assertSafeBind(listening.host, { name: auth }, publicUrl);
  const webhook = urlOf("webhook", settingOf(invocation, "webhook"));
  const { COUNTERSIGN_SECRET: secret, COUNTERSIGN_WEBHOOK_SECRET: webhookSecret } = invocation.env;
  const origins = settingOf(invocation, "allow-origin");
  const readUrl = settingOf(invocation, "read-url");
  return {
    ...listening,
    ledger: ledgerUrl(invocation, usualLedger),
    ...(secret ? { secret } : {}),
    ...listenUrl(invocation),
    ...(readUrl === undefined ? {} : { readUrl }),
    auth,
    breakGlass: invocation.flags.has("break-glass"),
    ...(auth === "oidc" ? { oidc: oidcOf(invocation) } : {}),
    ...(publicUrl === undefined ? {} : { publicUrl }),
    channels: readChannelSettings(invocation),
    ...fileOptions(invocation),
    ...(webhook === undefined ? {} : { webhook }),
    ...(webhookSecret ? { webhookSecret } : {}),
    allowOrigins: origins === undefined ? [] : origins.split(",").map((origin) => originOf(origin.trim())),
    a2aDecisions: switchOf(invocation, "a2a-decisions"),
  };
}

/** The part of {@link readServeOptions} that is the same for every tenant. */
export function readListenOptions(invocation: Pick<Invocation, "flags" | "env">): ListenOptions {
  return {
    host: settingOf(invocation, "host") ?? DEFAULT_HOST,
    port: numberOf("port", settingOf(invocation, "port"), MOST_PORT) ?? DEFAULT_PORT,
    migrate: switchOf(invocation, "migrate"),
    trustProxy: numberOf("trust-proxy", settingOf(invocation, "trust-proxy"), MOST_PROXIES) ?? 0,
    drainMs: millisecondsOf(invocation, "drain") ?? 1_000 * DEFAULT_DRAIN_SECONDS,
    graceMs: millisecondsOf(invocation, "grace") ?? 1_000 * DEFAULT_GRACE_SECONDS,
  };
}

function fileOptions(invocation: Invocation): Pick<ServeOptions, "policy" | "retention" | "receipts"> {
  const policy = policyFile(invocation);
  const retention = settingOf(invocation, "retention");
  const receipts = settingOf(invocation, "receipts");
  return {
    ...(policy === undefined ? {} : { policy }),
    ...(retention === undefined ? {} : { retention }),
    ...(receipts === undefined ? {} : { receipts }),
  };
}

function millisecondsOf(invocation: Pick<Invocation, "flags" | "env">, name: string): number | undefined {
  const seconds = numberOf(name, settingOf(invocation, name), MOST_SECONDS);
  return seconds === undefined ? undefined : 1_000 * seconds;
}

/** A flag's value, else its environment variable. */
export function settingOf(
  { flags, env }: Pick<Invocation, "flags" | "env">,
  name: string,
): string | undefined {
  const given = flags.text(name) ?? env[`COUNTERSIGN_${variableOf(name)}`];
  return given === undefined || given === "" ? undefined : given;
}

function variableOf(name: string): string {
  return name.toUpperCase().replaceAll("-", "_");
}

/** Is it switched on, by its flag or by its environment variable? */
function switchOf(invocation: Pick<Invocation, "flags" | "env">, name: string): boolean {
  if (invocation.flags.has(name)) return true;
  const given = settingOf(invocation, name) ?? "false";
  if (given === "true" || given === "false") return given === "true";
  throw invalid(name, `COUNTERSIGN_${variableOf(name)} is "${given}". Use true or false.`);
}

/** One of the ways to log in; throws `invalid-option` for any other value. */
export function authOf(text: string): LoginMode {
  const mode = LOGIN_MODES.find((candidate) => candidate === text);
  if (mode !== undefined) return mode;
  throw invalid("auth", `Invalid --auth "${text}". Use one of ${LOGIN_MODES.join(", ")}.`);
}

function oidcOf(invocation: Invocation): OidcOptions {
  const issuer = urlOf("oidc-issuer", settingOf(invocation, "oidc-issuer"));
  const audience = settingOf(invocation, "oidc-audience");
  if (issuer === undefined || audience === undefined) {
    throw invalid("auth", "--auth oidc needs --oidc-issuer URL and --oidc-audience NAME.");
  }
  const id = settingOf(invocation, "oidc-client-id");
  const secret = invocation.env["COUNTERSIGN_OIDC_CLIENT_SECRET"];
  const rolesClaim = settingOf(invocation, "oidc-roles-claim");
  const scopes = settingOf(invocation, "oidc-default-scopes");
  return {
    issuer,
    audience,
    ...(id === undefined ? {} : { client: { id, ...(secret ? { secret } : {}) } }),
    ...(rolesClaim === undefined ? {} : { rolesClaim }),
    ...(scopes === undefined ? {} : { defaultScopes: scopesOf("oidc-default-scopes", scopes) }),
    loginMaxAgeMs: parseDuration(
      settingOf(invocation, "oidc-login-age") ?? DEFAULT_LOGIN_AGE,
      "oidc-login-age",
    ),
  };
}

function scopesOf(name: string, text: string): readonly Scope[] {
  const words = text.split(",").map((word) => word.trim());
  const stranger = words.find((word) => !isScope(word));
  if (stranger === undefined) return words.filter(isScope);
  throw invalid(name, `Unknown scope "${stranger}" in --${name}. The scopes are ${SCOPES.join(", ")}.`);
}

function numberOf(name: string, text: string | undefined, most: number): number | undefined {
  if (text === undefined) return undefined;
  const value = /^\d+$/.test(text) ? Number(text) : Number.NaN;
  if (value <= most) return value;
  throw invalid(name, `Invalid --${name} "${text}". Use a number from 0 to ${most}.`);
}

function urlOf(name: string, text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  const { protocol } = URL.parse(text) ?? {};
  if (protocol === "http:" || protocol === "https:") return text;
  throw invalid(name, `Invalid --${name} "${text}". Use an address that starts with http:// or https://.`);
}

function originOf(text: string): string {
  if (text === "*" || URL.parse(text)?.origin === text) return text;
  throw invalid(
    "allow-origin",
    `Invalid --allow-origin "${text}". Use a scheme and a host without a path, for example https://app.example.com.`,
  );
}

function invalid(field: string, message: string): CountersignError {
  return new CountersignError("invalid-option", message, { details: { field } });
}
