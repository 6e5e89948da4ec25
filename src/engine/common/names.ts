import { CountersignError } from "../../protocol/index.ts";
import type { SessionName } from "../ledger/index.ts";

/** An entry of an index of PostgreSQL has 2704 bytes, and holds three names. */
const LONGEST_BYTES = 768;
const MOST_BYTES_OF_UNIT = 3;
const SHOWN_UNITS = 40;

/** Why a ledger cannot store something under this name; undefined if it can. The same for every store. */
export function flawOfName(name: string): string | undefined {
  if (name.length * MOST_BYTES_OF_UNIT > LONGEST_BYTES && Buffer.byteLength(name) > LONGEST_BYTES) {
    return `is longer than ${LONGEST_BYTES} bytes`;
  }
  if (name.includes("\0")) return "contains a NUL character";
  return name.isWellFormed() ? undefined : "contains an incomplete character (a lone surrogate)";
}

/** The text as every ledger can store it outside of JSON: NULs and lone surrogates are replaced by U+FFFD. */
export function storableText(text: string): string {
  return text.replaceAll("\0", "\ufffd").toWellFormed();
}

/** Throws `malformed-request`, with the part's name in the API, for a session name that no ledger can store. */
export function checkSessionName({ app, user, id }: SessionName): void {
  check("appName", app);
  check("userId", user);
  check("sessionId", id);
}

/** The same for a member of a state. */
export function checkStateKey(key: string): void {
  // Stored as JSON, which can contain a NUL and is longer if characters are escaped.
  check("state", JSON.stringify(key));
}

function check(field: string, name: string): void {
  const flaw = flawOfName(name);
  if (flaw === undefined) return;
  const shown = JSON.stringify(name.length > SHOWN_UNITS ? `${name.slice(0, SHOWN_UNITS)}…` : name);
  throw new CountersignError("malformed-request", `The ${field} ${shown} ${flaw}.`, { details: { field } });
}
