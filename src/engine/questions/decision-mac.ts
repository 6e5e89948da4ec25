import { timingSafeEqual } from "node:crypto";
import { canonicalJson, type JsonValue } from "../../protocol/index.ts";
import { hmac } from "../common/index.ts";
import type { CallRecord, ConfirmationRecord, GrantLimits, Shown, Vote } from "../ledger/index.ts";
import type { Requirement } from "../people/index.ts";

/** What a vote is about: this question, this call, this tool as it was shown, these arguments. */
export interface VotedOn {
  readonly confirmation: Pick<ConfirmationRecord, "id" | "argsDigest" | "requirements">;
  readonly call: Pick<CallRecord, "id" | "tool" | "definitionDigest">;
}

/**
 * Signs a vote over what makes it this decision and no other: its subject, verdict, approver, the person behind the
 * login, for whom and by which delegation, the requirement and the slot that it fills, its time, its payload and what
 * it grants.
 */
export function voteMac(secret: string, { confirmation, call }: VotedOn, vote: Omit<Vote, "mac">): string {
  const { confirmed, by, person, slot, delegated, at, payload, grant } = vote;
  const requirement = slot === undefined ? undefined : confirmation.requirements[slot.requirement];
  const tuple = [
    "vote-v3",
    confirmation.id,
    confirmation.argsDigest,
    call.id,
    call.tool,
    call.definitionDigest,
    confirmed,
    [by.id, by.kind, by.roles, by.authenticated, by.onBehalfOf ?? null],
    person,
    delegated === undefined ? null : [delegated.from, delegated.delegation],
    slot === undefined ? null : [slot.requirement, slot.place, membersOf(requirement)],
    at,
    payload === undefined ? null : canonicalJson(payload),
    limitsOf(grant),
  ];
  return hmac(secret, JSON.stringify(tuple));
}

/** Was this vote signed with the secret, for exactly this subject? */
export function voteIsGenuine(secret: string, subject: VotedOn, vote: Vote): boolean {
  return isSame(voteMac(secret, subject, vote), vote.mac);
}

/** What is signed of a question when it is asked: who must approve what, until when, and what a function itself asks. */
export type AskedOf = Omit<
  ConfirmationRecord,
  "mac" | "reminders" | "status" | "votes" | "withdrawal" | "shownVersion" | "argsDigest"
>;

/** Signs a question, so that nobody can lower what it requires in the database. */
export function questionMac(secret: string, asked: AskedOf): string {
  const {
    id,
    call,
    session,
    tool,
    round,
    requesters,
    requirements,
    requestedAt,
    expiresAt,
    denials,
    escalations = [],
    grants,
    askedBy = [],
    byMail = false,
  } = asked;
  const tuple = [
    "question-v4",
    id,
    call,
    session,
    tool,
    round,
    requesters,
    requirements.map(membersOf),
    requestedAt,
    expiresAt ?? null,
    denials ?? null,
    escalations.map(({ at, to, group, fills }) => [
      at,
      fills,
      membersOf({ from: to, count: 1, ...(group === undefined ? {} : { group }) }),
    ]),
    limitsOf(grants),
    askedBy,
    byMail,
    ...ownWords(asked.shown),
  ];
  return hmac(secret, JSON.stringify(tuple));
}

/**
 * What a function asks by itself, and what it gets when it goes on: no arguments say that, so it is signed as it is. Nothing
 * for a question of the gate.
 */
function ownWords(shown: Shown): readonly string[] {
  const { askedByTool, question, startedWith, startedByTool, onDenied, hint, payload, schema } = shown;
  const own = [askedByTool === true || null, question, startedWith, startedByTool, onDenied];
  if (own.every((each) => each === undefined || each === null)) return [];
  const members = [...own, hint, payload, schema] as readonly (JsonValue | undefined)[];
  return members.map((each) => canonicalJson(each ?? null));
}

/** Does the question require what it required when it was asked? Always, without a secret. */
export function questionIsGenuine(secret: string | undefined, asked: ConfirmationRecord): boolean {
  return secret === undefined || isSame(questionMac(secret, asked), asked.mac);
}

function isSame(expected: string, found = ""): boolean {
  const [one, other] = [Buffer.from(expected), Buffer.from(found)];
  return one.length === other.length && timingSafeEqual(one, other);
}

function limitsOf(limits: GrantLimits | undefined): string | null {
  return limits === undefined ? null : canonicalJson({ ...limits });
}

// A list, so that a member that is absent and one that is undefined are signed alike.
function membersOf(requirement: Requirement | undefined): readonly unknown[] | null {
  if (requirement === undefined) return null;
  const { from, count, group = null } = requirement;
  if (from === "requester") return [from, count, group];
  const { roles = [], users = [], notRequester = false } = from;
  return [[roles, users, notRequester], count, group];
}
