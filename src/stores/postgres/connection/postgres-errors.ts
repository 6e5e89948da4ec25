import { CountersignError } from "../../../protocol/index.ts";

// https://www.postgresql.org/docs/current/errcodes-appendix.html
const LOCK_NOT_AVAILABLE = "55P03";
// and serialization_failure, deadlock_detected
const TRANSIENT: ReadonlySet<string> = new Set(["40001", "40P01", LOCK_NOT_AVAILABLE]);

/** read_only_sql_transaction: what a standby answers to a write. */
export const READ_ONLY = "25006";

const GONE: ReadonlySet<string> = new Set([
  // admin_shutdown, crash_shutdown, cannot_connect_now, database_dropped, idle_in_transaction_session_timeout
  "57P01",
  "57P02",
  "57P03",
  "57P05",
  "25P03",
  // invalid_sql_statement_name: the connection lacks what was prepared on it, because the statement ahead that was to do
  // so failed, or because a pooler passed it on to another one
  "26000",
  // too_many_connections
  "53300",
  // a standby, while its primary is away
  READ_ONLY,
  "ECONNREFUSED",
  "ECONNRESET",
  "ECONNABORTED",
  "EPIPE",
  "ETIMEDOUT",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "EAI_AGAIN",
]);

// The driver's own errors have no code.
const GONE_MESSAGE =
  /^(Connection terminated|Query read timeout|timeout exceeded when trying|Client has encountered|Client was closed|terminating connection)/;

const UNTRUSTED = "its certificate is not from a trusted authority: set sslrootcert";

const FORGETFUL_POOLER =
  "a connection pooler does not support prepared statements: add ?prepare=false to the URL";

const ADVICE: ReadonlyMap<string, string> = new Map([
  // invalid_sql_statement_name, duplicate_prepared_statement
  ["26000", FORGETFUL_POOLER],
  ["42P05", FORGETFUL_POOLER],
  [
    READ_ONLY,
    "the server is a read-only standby: use the primary, or list all hosts as HOST:PORT,HOST:PORT to find the primary",
  ],
  ["28P01", "the password is wrong: check the URL"],
  ["28000", "the role may not log in: check the URL and the server's pg_hba.conf"],
  ["3D000", "there is no such database: create it, or check the URL"],
  ["3F000", "it has no ledger: run `countersign migrate`"],
  ["42501", "the role lacks a privilege: grant those listed in docs/operations.md"],
  ["53100", "the server's disk is full: free some space and try again"],
  ["ENOTFOUND", "the host name cannot be resolved: check the URL"],
  ["DEPTH_ZERO_SELF_SIGNED_CERT", "its certificate is self-signed: set sslrootcert"],
  ["SELF_SIGNED_CERT_IN_CHAIN", UNTRUSTED],
  ["UNABLE_TO_VERIFY_LEAF_SIGNATURE", UNTRUSTED],
  ["UNABLE_TO_GET_ISSUER_CERT", UNTRUSTED],
  ["UNABLE_TO_GET_ISSUER_CERT_LOCALLY", UNTRUSTED],
  ["CERT_SIGNATURE_FAILURE", UNTRUSTED],
  ["CERT_UNTRUSTED", UNTRUSTED],
  ["CERT_HAS_EXPIRED", "its certificate has expired: renew it"],
  ["CERT_NOT_YET_VALID", "its certificate is not valid yet: check the clocks"],
  [
    "ERR_TLS_CERT_ALTNAME_INVALID",
    "its certificate is for a different host: use the host name in the certificate",
  ],
]);

// Told apart by their words only: the first is the driver's own, the others a pooler's.
const ADVICE_BY_WORDS: readonly (readonly [RegExp, string])[] = [
  [
    /^The server does not support SSL connections/,
    "the server does not support TLS: enable it there, or set sslmode=disable",
  ],
  [
    /^unsupported startup parameter/,
    "a connection pooler rejects settings: add ?prepare=false, and set them on the role",
  ],
  [
    /transaction blocks not allowed in statement pooling mode/,
    "the connection pooler runs in statement mode, and this needs a transaction: use transaction or session mode, or connect directly",
  ],
  [
    /^query_wait_timeout/,
    "the connection pooler had no free connection in time: give its pool room for all connections of all processes",
  ],
];

const SILENT =
  "the server does not answer: check that it is running and, if there is a connection pooler, that its pool has room";

const GUARD = "CS001";
// invalid_schema_name, undefined_table, undefined_column, undefined_function
const UNDEFINED: ReadonlySet<string> = new Set(["3F000", "42P01", "42703", "42883"]);
const CANCELLED = "57014";
// character_not_in_repertoire, untranslatable_character: a NUL, which no text here can hold
const UNSTORABLE: ReadonlySet<string> = new Set(["22021", "22P05"]);

function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return "";
  if ("code" in error && typeof error.code === "string") return error.code;
  // All addresses of a host were tried.
  return error instanceof AggregateError ? codeOf(error.errors[0]) : "";
}

function adviceInWords(error: unknown): string | undefined {
  const { message } = error instanceof Error ? error : { message: "" };
  return ADVICE_BY_WORDS.find(([words]) => words.test(message))?.[1];
}

/** Was nothing done, and may the same statement succeed a moment later? */
export function isTransient(error: unknown): boolean {
  return TRANSIENT.has(codeOf(error));
}

/** Was a lock waited for until the connection's limit? */
export function isLockTimeout(error: unknown): boolean {
  return codeOf(error) === LOCK_NOT_AVAILABLE;
}

/** Does the server not know a table, a column or a function that the statement names? */
export function isUndefined(error: unknown): boolean {
  return UNDEFINED.has(codeOf(error));
}

/** Is the connection gone? Whether the statement was done is then not known. */
export function isGone(error: unknown): boolean {
  const code = codeOf(error);
  if (adviceInWords(error) !== undefined) return false;
  if (GONE.has(code) || code.startsWith("08")) return true;
  return code === "" && error instanceof Error && GONE_MESSAGE.test(error.message);
}

/** Did the schema's own function undo the statement, because a guard did not hold to its end? */
export function isGuardRaised(error: unknown): boolean {
  return error instanceof Error && codeOf(error.cause) === GUARD;
}

/** What a failure of PostgreSQL means to a user of the ledger; our own errors pass unchanged. */
export function toLedgerError(error: unknown, name: string): unknown {
  if (CountersignError.isInstance(error)) return error;
  const code = codeOf(error);
  const details = { ledger: name };
  if (UNSTORABLE.has(code)) {
    return new CountersignError(
      "malformed-request",
      "A string contains a NUL character, which cannot be stored.",
      {
        details,
        cause: error,
      },
    );
  }
  if (code === CANCELLED) {
    const message = `A statement on the ledger "${name}" timed out. Try again.`;
    return new CountersignError("ledger-busy", message, { details, cause: error });
  }
  const advice = ADVICE.get(code) ?? adviceInWords(error) ?? (isGone(error) ? SILENT : undefined);
  if (advice !== undefined) {
    return new CountersignError("ledger-unreachable", `The ledger "${name}" cannot be used: ${advice}.`, {
      details,
      cause: error,
    });
  }
  return new CountersignError("internal", `The ledger "${name}" refused a statement.`, {
    details,
    cause: error,
  });
}
