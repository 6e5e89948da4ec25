import { accessSync, constants } from "node:fs";
import { CountersignError } from "../../../protocol/index.ts";
import type { ConnectionSettings } from "./driver.ts";
import { USUAL_SCHEMA } from "./statements.ts";

const DEFAULT_POOL = 10;
const LARGEST_POOL = 1_000;

const STATEMENT_TIMEOUT_MS = 10_000;
const LOCK_TIMEOUT_MS = 3_000;
const IDLE_IN_TRANSACTION_MS = 5_000;
const CONNECT_TIMEOUT_MS = 5_000;
// Longer than the server takes to give up by itself, so that only a connection that is dead gets there.
const QUERY_TIMEOUT_MS = 12_000;
// Of a standby, which the primary can stand in for.
const STANDBY_TIMEOUT_MS = 5_000;
const KEEP_ALIVE_MS = 10_000;

/**
 * Every statement finds what it needs by an index, however much there is. So each is planned once on a connection, and never
 * for a table that was small at that moment.
 */
const INDEX_PLANS = {
  plan_cache_mode: "force_generic_plan",
  enable_seqscan: "off",
  enable_bitmapscan: "off",
  enable_hashjoin: "off",
  enable_mergejoin: "off",
};

const OWN_PARAMETERS = ["pool", "prepare", "query_timeout", "schema", "target_session_attrs"] as const;

/** Ours by its name, so that no other program's schema can be meant. It needs no quotes, and fits into a name of the server's. */
const SCHEMA = new RegExp(`^${USUAL_SCHEMA}(_[a-z0-9_]{1,50})?$`);

const PLAIN_MODE = "disable";
// Encrypted, without a check of who answers.
const UNVERIFIED_MODE = "no-verify";
const VERIFIED_MODE = "verify-full";
// The driver's next version will read these as weaker than this one does; here they mean one thing.
const VERIFIED_MODES: ReadonlySet<string> = new Set(["prefer", "require", "verify-ca", VERIFIED_MODE]);
const FILES = ["sslrootcert", "sslcert", "sslkey"] as const;

const INTEGERS: ReadonlySet<number> = new Set([20, 21, 23]);
const BOOLEAN = 16;

/** How the servers of a `postgres://` URL are used. */
export interface PostgresSettings {
  /** The URL without the password, for messages. */
  readonly name: string;
  /** The servers that may be the primary, in the order of the URL. */
  readonly hosts: readonly [ConnectionSettings, ...ConnectionSettings[]];
  readonly pool: number;
  /** The schema that the ledger is in. */
  readonly schema: string;
  /** A pooler is between us and the server: a connection keeps no statements and no settings. */
  readonly pooled: boolean;
  /** A standby, which is only read: a caller gets an error at once if it is gone. */
  readonly isStandby: boolean;
}

/** What a `postgres://` URL says, ours and the driver's apart. */
export interface ParsedUrl extends Omit<PostgresSettings, "pooled"> {
  /** What the URL says of prepared statements; undefined where that must be found out. */
  readonly prepare: boolean | undefined;
  /** What each connection asks of the server. */
  readonly startOptions: string;
}

/**
 * Reads `?schema=`, `?pool=`, `?prepare=` and `?sslmode=`; everything else is the driver's (`sslrootcert`, …).
 * `?query_timeout=` in milliseconds is how long an answer may take before its connection is dropped. Several hosts are
 * written as libpq has them, `postgres://user@one:5432,two:5433/database`. Throws `invalid-option` for values that make
 * no sense, and for files that cannot be read.
 */
export function parseUrl(
  url: string,
  { isStandby = false }: { readonly isStandby?: boolean } = {},
): ParsedUrl {
  const [first, ...others] = splitHosts(url).map(toUrl);
  if (first === undefined) throw unreadable();
  const pool = toCount(first, "pool", { usual: DEFAULT_POOL, most: LARGEST_POOL });
  const prepare = toFlag(first, "prepare");
  const schema = toSchema(first);
  const usual = isStandby ? STANDBY_TIMEOUT_MS : QUERY_TIMEOUT_MS;
  const query_timeout = toCount(first, "query_timeout", { usual, most: 3_600_000 });
  // Which of its hosts is a standby is found out by asking each.
  if (!isStandby) checkSessionAttributes(first);
  const toHost = (parsed: URL): ConnectionSettings => {
    for (const own of OWN_PARAMETERS) parsed.searchParams.delete(own);
    settleTls(parsed);
    return {
      connectionString: parsed.href,
      application_name: "countersign",
      connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
      query_timeout,
      keepAlive: true,
      keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
      types: { getTypeParser: parserOf },
    };
  };
  const name = `postgres://${[first, ...others].map(({ host }) => host).join(",")}${first.pathname}${schema === USUAL_SCHEMA ? "" : `?schema=${schema}`}`;
  const hosts = [toHost(first), ...others.map(toHost)] as const;
  const startOptions = startOptionsOf(query_timeout, isStandby);
  return { name, pool, schema, prepare, hosts, isStandby, startOptions };
}

/** A pooler that keeps no statements keeps no settings either: there they belong to the role. */
export function toSettings(url: ParsedUrl, { pooled }: { readonly pooled: boolean }): PostgresSettings {
  const { name, pool, schema, hosts, isStandby, startOptions: options } = url;
  if (pooled) return { name, pool, schema, hosts, isStandby, pooled };
  const [first, ...others] = hosts;
  const withOptions = (host: ConnectionSettings): ConnectionSettings => ({ ...host, options });
  return { name, pool, schema, isStandby, pooled, hosts: [withOptions(first), ...others.map(withOptions)] };
}

/** One URL for each host that is named. */
export function splitHosts(url: string): readonly string[] {
  const [, scheme = "", authority = "", rest = ""] = /^([a-z]+:\/\/)([^/?#]*)(.*)$/s.exec(url) ?? [];
  const at = authority.lastIndexOf("@") + 1;
  const hosts = authority.slice(at).split(",");
  if (hosts.length === 1) return [url];
  return hosts.map((host) => {
    if (host === "") throw invalid("a host between the commas of the ledger's URL is missing");
    return `${scheme}${authority.slice(0, at)}${host}${rest}`;
  });
}

// The ledger is written to: what only reads is of no use, whatever the URL asks for.
function checkSessionAttributes(url: URL): void {
  const wanted = url.searchParams.get("target_session_attrs") ?? "read-write";
  if (wanted === "read-write" || wanted === "primary") return;
  throw invalid(`invalid target_session_attrs ${JSON.stringify(wanted)}; omit it or use read-write`);
}

/** Where TLS is asked for, the server's certificate is checked with its name, unless it is said that it need not be. */
function settleTls(url: URL): void {
  const mode = url.searchParams.get("sslmode");
  if (mode !== null && VERIFIED_MODES.has(mode)) url.searchParams.set("sslmode", VERIFIED_MODE);
  else if (mode !== null && mode !== PLAIN_MODE && mode !== UNVERIFIED_MODE) {
    throw invalid(
      `sslmode is ${JSON.stringify(mode)}; give ${VERIFIED_MODE}, ${UNVERIFIED_MODE} or ${PLAIN_MODE}`,
    );
  }
  for (const name of FILES) {
    const file = url.searchParams.get(name);
    if (file !== null && !isReadable(file))
      throw invalid(`${name} is ${JSON.stringify(file)}, but this user cannot read such a file`);
  }
}

function isReadable(file: string): boolean {
  try {
    accessSync(file, constants.R_OK);
    return true;
  } catch {
    return false;
  }
}

function startOptionsOf(queryTimeout: number, isStandby: boolean): string {
  const settings = {
    statement_timeout: Math.min(STATEMENT_TIMEOUT_MS, queryTimeout),
    lock_timeout: Math.min(LOCK_TIMEOUT_MS, queryTimeout),
    idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_MS,
    default_transaction_isolation: "read\\ committed",
    // Also where it was promoted since.
    ...(isStandby ? { default_transaction_read_only: "on" } : {}),
    jit: "off",
    // What others may have put into a schema of the database (an operator that fits better) is not looked for.
    search_path: "pg_catalog",
    ...INDEX_PLANS,
  };
  return Object.entries(settings)
    .map(([name, value]) => `-c ${name}=${value}`)
    .join(" ");
}

// Only what the store's statements give back; everything else stays text.
function parserOf(type: number): (text: string) => unknown {
  if (INTEGERS.has(type)) return Number;
  return type === BOOLEAN ? (text) => text === "t" : (text) => text;
}

function toUrl(url: string): URL {
  try {
    return new URL(url);
  } catch {
    throw unreadable();
  }
}

// Without a cause: it would repeat the password.
function unreadable(): CountersignError {
  return invalid(
    "the ledger's URL cannot be read; write postgres://USER:PASSWORD@HOST:PORT/DATABASE, several as HOST:PORT,HOST:PORT, and escape special characters",
  );
}

function toCount(
  url: URL,
  name: string,
  { usual, most }: { readonly usual: number; readonly most: number },
): number {
  const text = url.searchParams.get(name);
  if (text === null) return usual;
  const count = Number(text);
  if (Number.isInteger(count) && count >= 1 && count <= most) return count;
  throw invalid(`${name} is ${JSON.stringify(text)}; use a whole number from 1 to ${most}`);
}

function toSchema(url: URL): string {
  const [schema = USUAL_SCHEMA, ...others] = url.searchParams.getAll("schema");
  if (others.length === 0 && SCHEMA.test(schema)) return schema;
  throw invalid(
    `schema is ${JSON.stringify([schema, ...others].join(", "))}; use ${USUAL_SCHEMA}_NAME, with at most 50 lowercase letters, digits and underscores as NAME`,
  );
}

function toFlag(url: URL, name: string): boolean | undefined {
  const text = url.searchParams.get(name);
  if (text === null) return undefined;
  if (text === "true" || text === "false") return text === "true";
  throw invalid(`${name} is ${JSON.stringify(text)}; use true or false`);
}

function invalid(problem: string): CountersignError {
  return new CountersignError("invalid-option", `Cannot open a ledger: ${problem}.`, {
    details: { option: "ledger" },
  });
}
