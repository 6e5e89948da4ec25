import { hash } from "node:crypto";
import { isVouched, type Ruled } from "./authority.ts";
import { isAnybody, type Principal } from "./principal.ts";

const LONGEST = 200;

/**
 * Everyone to whom a question is shown, as words that a store can index. Somebody may know of it exactly if one of
 * these is among the words that they look as.
 */
export function viewersOf({ approvers, requesters }: Ruled): readonly string[] {
  const words = requesters.map(asked);
  if (approvers === "requester") return distinct([...words, HOST]);
  const { roles = [], users = [], notRequester = false } = approvers;
  words.push(...users.map(named), ...roles.map(inRole));
  if (notRequester && roles.length === 0 && users.length === 0) words.push(KNOWN);
  return distinct(words);
}

/** The words under which somebody finds what they asked for. */
export function looksAsRequester({ id, onBehalfOf }: Principal): readonly string[] {
  return distinct([asked(id), ...(onBehalfOf === undefined ? [] : [asked(onBehalfOf)])]);
}

/** The words under which somebody finds all that they may know of: what they asked for, and what they may decide. */
export function viewsAs(principal: Principal): readonly string[] {
  const words = [...looksAsRequester(principal)];
  if (principal.kind === "agent") return words;
  if (isVouched(principal)) words.push(HOST);
  if (isAnybody(principal)) return words;
  words.push(named(principal.id), ...principal.roles.map(inRole));
  if (principal.authenticated) words.push(KNOWN);
  return distinct(words);
}

/** The host's own people, for what the requester decides. */
const HOST = "host";
/** Whoever is known, for what anyone but the requester decides. */
const KNOWN = "known";

function asked(id: string): string {
  return word("asked", id);
}

function named(id: string): string {
  return word("user", id);
}

function inRole(role: string): string {
  return word("role", role);
}

// An index holds no text of any length, and not every store a NUL or half a character.
function word(kind: string, name: string): string {
  const fits = name.length <= LONGEST && !name.includes("\0") && name.isWellFormed();
  return fits ? `${kind}:${name}` : `${kind}#${hash("sha256", JSON.stringify(name), "base64url")}`;
}

function distinct(words: readonly string[]): readonly string[] {
  return [...new Set(words)];
}
