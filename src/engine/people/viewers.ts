import { hash } from "node:crypto";
import { type Counting, isCode, isVouched, type Ruled } from "./authority.ts";
import type { DelegationScope } from "./delegation.ts";
import { type Directory, loginsOf } from "./directory.ts";
import { type Approvers, isAnybody, type Principal } from "./principal.ts";

const LONGEST = 200;

/**
 * Labels for everyone who may see a question, for the store's index. A reader may see it exactly if one of the reader's
 * labels is among them.
 */
export function viewersOf({ requirements, requesters, escalations = [] }: Ruled): readonly string[] {
  return distinct([
    ...requesters.map(asked),
    ...requirements.flatMap(({ from }) => votersIn(from)),
    ...escalations.flatMap(({ to }) => (to === "requester" ? [] : votersIn(to))),
  ]);
}

function votersIn(from: Approvers): readonly string[] {
  if (from === "requester") return [HOST];
  const { roles = [], users = [], notRequester = false } = from;
  const open = notRequester && roles.length === 0 && users.length === 0;
  return [...users.map(named), ...roles.map(inRole), ...(open ? [KNOWN] : [])];
}

type Logins = Pick<Directory, "logins">;

/** The labels of a reader's own requests, under all logins of the person. */
export function looksAsRequester({ id, onBehalfOf }: Principal, directory?: Logins): readonly string[] {
  const ids = onBehalfOf === undefined ? [id] : [id, onBehalfOf];
  return distinct(ids.flatMap((login) => loginsOf(login, directory)).map(asked));
}

/** The labels of everything a reader may see: what they asked for, and what they may decide. */
export function viewsAs(principal: Principal, directory?: Logins): readonly string[] {
  const words = [...looksAsRequester(principal, directory)];
  if (principal.kind === "agent") return words;
  if (isVouched(principal)) words.push(HOST);
  if (isAnybody(principal) || isCode(principal)) return words;
  words.push(named(principal.id), ...principal.roles.map(inRole));
  if (principal.authenticated) words.push(KNOWN);
  return distinct(words);
}

/** What a reader sees for somebody else: what is shown to this label, within the scope. */
export interface DelegatedView {
  readonly viewer: string;
  readonly scope?: DelegationScope;
}

/** The labels of what a reader may see because they vote for others: what names those. */
export function viewsForOthers(
  principal: Principal,
  { delegations = [], directory }: Partial<Counting>,
): readonly DelegatedView[] {
  if (principal.kind === "agent" || isAnybody(principal) || isCode(principal)) return [];
  if (principal.onBehalfOf !== undefined) return [];
  const person = (login: string): string => directory?.person(login) ?? login;
  return delegations
    .filter(({ to }) => person(to) === person(principal.id))
    .map(({ from, scope }) => ({ viewer: named(from), ...(scope === undefined ? {} : { scope }) }));
}

/** The host's own people, for what the requester decides. */
const HOST = "host";
/** Any known person, for questions that anyone but the requester may decide. */
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

// An index limits the length of a text, and not every store accepts a NUL or a lone surrogate.
function word(kind: string, name: string): string {
  const fits = name.length <= LONGEST && !name.includes("\0") && name.isWellFormed();
  return fits ? `${kind}:${name}` : `${kind}#${hash("sha256", JSON.stringify(name), "base64url")}`;
}

function distinct(words: readonly string[]): readonly string[] {
  return [...new Set(words)];
}
