/** The name under which a confirmation is asked for and answered, on every ADK wire. */
export const REQUEST_CONFIRMATION_FUNCTION_NAME = "adk_request_confirmation";

/** The same, under the name that `@google/adk` exports it by. */
export const REQUEST_CONFIRMATION_FUNCTION_CALL_NAME: typeof REQUEST_CONFIRMATION_FUNCTION_NAME =
  REQUEST_CONFIRMATION_FUNCTION_NAME;

/** The names of the ADK's internal calls: confirmations, credentials, questions to the user. */
export const RESERVED_NAMES: readonly string[] = [
  REQUEST_CONFIRMATION_FUNCTION_NAME,
  "adk_request_credential",
  "adk_request_input",
];

const FAMILY_PREFIX = "adk_request_";
const PLAIN = /^[a-z0-9_]*$/;
const RUN_TOGETHER: ReadonlySet<string> = new Set(RESERVED_NAMES.map((name) => name.replaceAll("_", "")));

/** Cyrillic, Greek and other letters that NFKD leaves alone, and the Latin ones that they are drawn like. */
const LOOK_ALIKES = "аԁкеԛѕсогімтпακεοιυτɑıոսօꜱᴄᴏꓲ";
const DRAWN_LIKE = "adkeqscorimtnakeoiutainuoscoi";

/**
 * Is this name reserved, so that no tool may have it and no model may call it? Reserved are the names above, all of
 * `adk_request_…`, and everything that looks like one. Case, width, accents, invisible characters, blanks, punctuation
 * and common look-alike letters make no difference.
 */
export function isReservedName(name: string): boolean {
  // A fast path: plain letters without "q" cannot look like "request".
  if (!name.includes("q") && PLAIN.test(name)) return false;
  const folded = fold(name);
  return folded.startsWith(FAMILY_PREFIX) || RUN_TOGETHER.has(folded.replaceAll("_", ""));
}

// The last two become marks when they are taken apart.
const UNSEEN = /[\p{M}\p{Cc}\p{Cf}\p{Cs}\p{Default_Ignorable_Code_Point}\uff9e\uff9f]/gu;

function fold(name: string): string {
  // Marks are removed first: normalizing sorts them, in quadratic time.
  const letters = name.replace(UNSEEN, "").normalize("NFKD").toLowerCase().replace(UNSEEN, "");
  const latin = Array.from(letters, (letter) => DRAWN_LIKE[LOOK_ALIKES.indexOf(letter)] ?? letter).join("");
  return latin.replace(/[^\p{L}\p{N}]+/gu, "_").replace(/^_|_$/g, "");
}
