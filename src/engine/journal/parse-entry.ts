import { isJsonArray, isJsonObject, type JsonObject, type JsonValue } from "../../protocol/index.ts";
import type {
  AppliedRule,
  CallStatus,
  Escalation,
  GrantLimits,
  JournalRecord,
  PolicyNote,
  VoteSlot,
} from "../ledger/index.ts";
import { CALL_TRANSITIONS } from "../lifecycle/index.ts";
import type { Approvers, DelegationScope, PrincipalKind, Requirement } from "../people/index.ts";
import type {
  AboutAttempt,
  AboutCall,
  AboutQuestion,
  ActedBy,
  Amended,
  CallEnded,
  DelegationNoted,
  GrantRefused,
  JournalBodies,
  JournalEntry,
  JournalKind,
  JournalPerson,
  LateEnd,
  PrunedSession,
  StepNoted,
  TenantNoted,
  VoteCast,
} from "./bodies.ts";
import { isLineSum, type LinesLeft } from "./line-sum.ts";

/** A stored record: readable, erased, or nothing that this version has written. */
export type ParsedEntry =
  | ({ readonly state: "readable" } & JournalEntry)
  | { readonly state: "erased"; readonly kind: JournalKind }
  | { readonly state: "unreadable"; readonly why: string };

type Check<T> = (value: unknown) => value is T;
interface Optional<T> {
  readonly optional: Check<T>;
}

/** A check for each member: a member that is added, renamed or retyped does not compile without its check. */
type Checks<Body> = {
  readonly [name in keyof Body]-?: Partial<Pick<Body, name>> extends Pick<Body, name>
    ? Optional<Exclude<Body[name], undefined>>
    : Check<Body[name]>;
};

const text: Check<string> = (value) => typeof value === "string";
const count: Check<number> = (value) => typeof value === "number";
const flag: Check<boolean> = (value) => typeof value === "boolean";
const yes: Check<true> = (value) => value === true;
const object: Check<JsonObject> = isJsonObject;
const json: Check<JsonValue> = (value): value is JsonValue => value !== undefined;
const texts: Check<readonly string[]> = (value) => isJsonArray(value) && value.every(text);
const approvers: Check<Approvers> = (value): value is Approvers =>
  value === "requester" || isJsonObject(value);
const callStatus: Check<CallStatus> = (value): value is CallStatus =>
  text(value) && Object.hasOwn(CALL_TRANSITIONS, value);

function optional<T>(check: Check<T>): Optional<T> {
  return { optional: check };
}

function oneOf<const T extends string | boolean>(...values: readonly T[]): Check<T> {
  return (value): value is T => values.some((known) => known === value);
}

function shaped<Body>(checks: Checks<Body>): Check<Body> {
  return (value): value is Body => isJsonObject(value) && flawOf(value, checks) === undefined;
}

function listOf<T>(check: Check<T>): Check<readonly T[]> {
  return (value): value is readonly T[] => isJsonArray(value) && value.every(check);
}

const requirement: Check<Requirement> = shaped<Requirement>({
  from: approvers,
  count,
  group: optional(text),
});
const policyNotes: Check<readonly PolicyNote[]> = listOf(
  shaped<PolicyNote>({
    version: optional(text),
    rules: listOf(
      shaped<AppliedRule>({
        rule: optional(text),
        reason: optional(text),
        outcome: oneOf("allow", "confirm", "deny"),
        facts: optional(object),
        observe: optional(flag),
      }),
    ),
  }),
);
const principalKind: Check<PrincipalKind> = oneOf(
  "local",
  "token",
  "oidc",
  "channel",
  "provider",
  "agent",
  "author",
);
const person: Check<JournalPerson> = shaped<JournalPerson>({
  id: text,
  kind: principalKind,
  authenticated: flag,
  onBehalfOf: optional(text),
});
const actedBy: Checks<ActedBy> = { by: person, via: text };
const maybeActedBy: Checks<Partial<ActedBy>> = { by: optional(person), via: optional(text) };
const aboutCall: Checks<AboutCall> = { call: text, tool: text };
const aboutAttempt: Checks<AboutAttempt> = { ...aboutCall, attempt: count };
const aboutQuestion: Checks<AboutQuestion> = {
  ...aboutCall,
  confirmation: text,
  round: count,
  argsDigest: text,
};
const slot: Check<VoteSlot> = shaped<VoteSlot>({ requirement: count, place: count });
const textsByName: Check<{ readonly [name: string]: string }> = (
  value,
): value is { readonly [name: string]: string } => isJsonObject(value) && Object.values(value).every(text);
const countsByName: Check<{ readonly [name: string]: number }> = (
  value,
): value is { readonly [name: string]: number } => isJsonObject(value) && Object.values(value).every(count);
const grantLimits: Check<GrantLimits> = shaped<GrantLimits>({
  scope: optional(oneOf("session", "user")),
  forMs: count,
  count,
  sum: optional(countsByName),
  where: optional(texts),
});
const vote: Checks<VoteCast> = {
  ...actedBy,
  confirmed: flag,
  person: text,
  slot: optional(slot),
  delegated: optional(shaped<NonNullable<VoteCast["delegated"]>>({ from: text, delegation: text })),
  ended: optional(texts),
  reason: optional(text),
  grant: optional(grantLimits),
  mac: optional(text),
};
const callEnded: Checks<CallEnded> = {
  ...aboutAttempt,
  resultDigest: optional(text),
  code: optional(text),
  late: optional(yes),
};
const lateEnd: Checks<LateEnd> = {
  outcome: optional(text),
  result: optional(json),
  statusThen: optional(callStatus),
};
const delegation: Checks<DelegationNoted> = { ...actedBy, delegation: text, from: text, to: text };
const tenant: Checks<TenantNoted> = {
  ...actedBy,
  tenant: text,
  ledger: text,
  from: optional(text),
  to: text,
  limits: optional(object),
  reason: optional(text),
};
const step: Checks<StepNoted> = { ...aboutAttempt, step: text };

const CHECKS: { readonly [kind in JournalKind]: Checks<JournalBodies[kind]> } = {
  "confirmation-requested": {
    ...aboutQuestion,
    app: text,
    agent: text,
    path: texts,
    user: text,
    requesters: texts,
    args: object,
    hint: text,
    why: texts,
    requirements: listOf(requirement),
    denials: optional(count),
    escalations: optional(
      listOf(
        shaped<Escalation>({
          at: count,
          to: approvers,
          group: optional(text),
          fills: listOf(count),
          reached: flag,
        }),
      ),
    ),
    definitionDigest: text,
    expiresAt: optional(count),
    policy: optional(policyNotes),
    grants: optional(grantLimits),
    byMail: optional(yes),
    notify: optional(texts),
  },
  "confirmation-approved": {
    ...aboutQuestion,
    ...vote,
    started: optional(
      shaped<{ readonly attempt: number; readonly owner: string }>({ attempt: count, owner: text }),
    ),
    amended: optional(shaped<Amended>({ fields: texts, args: object })),
  },
  "confirmation-denied": { ...aboutQuestion, ...vote },
  "vote-cast": { ...aboutQuestion, ...vote },
  "vote-withdrawn": { ...aboutQuestion, ...actedBy, person: text },
  "confirmation-seen": { ...aboutQuestion, ...actedBy, person: text },
  "confirmation-reminded": { ...aboutQuestion, due: count },
  "confirmation-escalated": { ...aboutQuestion, due: count, to: approvers, group: optional(text) },
  "confirmation-expired": aboutQuestion,
  "confirmation-cancelled": {
    ...aboutQuestion,
    ...maybeActedBy,
    reason: text,
    callMayHaveRun: optional(yes),
  },
  "confirmation-restored": { ...aboutQuestion, ...actedBy, reason: text, ended: optional(texts) },
  "decision-refused": {
    ...aboutCall,
    ...actedBy,
    code: text,
    what: optional(oneOf("decide", "settle", "cancel")),
    confirmed: optional(flag),
    confirmation: optional(text),
    round: optional(count),
    argsDigest: optional(text),
  },
  "calls-started": {
    owner: text,
    calls: listOf(
      shaped<JournalBodies["calls-started"]["calls"][number]>({
        ...aboutAttempt,
        argsDigest: text,
        policy: optional(policyNotes),
      }),
    ),
  },
  "calls-answered": {
    calls: listOf(
      shaped<JournalBodies["calls-answered"]["calls"][number]>({
        ...aboutCall,
        status: callStatus,
        argsDigest: text,
        policy: optional(policyNotes),
      }),
    ),
  },
  "call-allowed": { ...aboutCall, argsDigest: text, by: text, policy: optional(policyNotes) },
  "call-started": {
    ...aboutAttempt,
    owner: text,
    argsDigest: text,
    by: optional(text),
    policy: optional(policyNotes),
  },
  "call-succeeded": callEnded,
  "call-failed": callEnded,
  "call-denied": callEnded,
  "call-expired": callEnded,
  "call-cancelled": { ...aboutCall, reason: text },
  "call-unknown": { ...aboutAttempt, ...lateEnd, ...maybeActedBy, reason: text, owner: optional(text) },
  "call-released": { ...aboutAttempt, reason: optional(text), owner: optional(text) },
  "call-delegated": { ...aboutCall, agent: text },
  "call-returned": { ...aboutCall, status: oneOf("done", "failed", "cancelled") },
  "call-result": { ...aboutAttempt, resultDigest: text },
  "call-settled": {
    ...aboutAttempt,
    ...actedBy,
    as: oneOf("succeeded", "failed", "retry"),
    happened: optional(oneOf(false)),
    status: optional(callStatus),
  },
  "late-result": { ...aboutAttempt, ...lateEnd },
  "grant-minted": {
    ...aboutCall,
    grant: text,
    confirmation: text,
    agent: text,
    definitionDigest: text,
    by: texts,
    limits: grantLimits,
    endsAt: count,
  },
  "grant-used": { ...aboutCall, grant: text, by: texts, uses: count, spent: textsByName },
  "grant-refunded": { ...aboutCall, grant: text, uses: count, spent: textsByName },
  "grant-refused": {
    ...aboutCall,
    refused: listOf(shaped<GrantRefused["refused"][number]>({ grant: text, reason: text })),
  },
  "grant-revoked": { ...maybeActedBy, grant: text, tool: text, uses: count, reason: optional(text) },
  "step-started": step,
  "step-done": step,
  "step-failed": step,
  "delegation-made": {
    ...delegation,
    until: count,
    scope: optional(shaped<DelegationScope>({ app: optional(texts), tool: optional(texts) })),
  },
  "delegation-revoked": delegation,
  "hold-placed": {
    ...actedBy,
    hold: text,
    on: oneOf("session", "user", "app"),
    name: text,
    reason: text,
  },
  "hold-released": { ...actedBy, hold: text, reason: text },
  "tenant-changed": tenant,
  "run-cancelled": { invocation: text, reason: text },
  "session-imported": { by: text, events: count },
  "session-deleted": { by: text, erased: count },
  "session-pruned": { before: count, erased: count, tools: optional(texts) },
  "person-erased": {
    ...actedBy,
    person: text,
    others: optional(texts),
    sessions: count,
    items: count,
    left: count,
  },
  "retention-run": { ...actedBy, rules: text, erased: count, held: count },
  "journal-archived": { ...actedBy, file: count, seal: text, sessions: count },
  "journal-pruned": {
    ...actedBy,
    rules: text,
    checkpoint: shaped<JournalBodies["journal-pruned"]["checkpoint"]>({ k: count, hash: text }),
    upTo: count,
    left: shaped<LinesLeft>({
      rows: count,
      sum: (value): value is string => text(value) && isLineSum(value),
    }),
    sessions: listOf(shaped<PrunedSession>({ key: text, n: count, hash: text, file: optional(count) })),
  },
};

/** Is this a kind that this version writes? */
export function isJournalKind(kind: string): kind is JournalKind {
  return Object.hasOwn(CHECKS, kind);
}

/**
 * The one way to read what a record says. Members that are not known are left alone; where one is missing or of another
 * type the whole record is unreadable, and so is a kind that is not known: a newer version may have written it, or
 * somebody was at the database. Its reader must decide what follows then.
 */
export function parseEntry({ kind, body }: Pick<JournalRecord, "kind" | "body">): ParsedEntry {
  if (!isJournalKind(kind)) return { state: "unreadable", why: `unknown kind "${kind}"` };
  if (body === null) return { state: "erased", kind };
  if (!isJsonObject(body)) return { state: "unreadable", why: "the body is not an object" };
  const flaw = flawOf(body, CHECKS[kind]);
  if (flaw !== undefined) return { state: "unreadable", why: `"${flaw}" is missing or malformed` };
  return { state: "readable", ...({ kind, body } as unknown as JournalEntry) };
}

/** The name of the first member that is not as it must be. */
function flawOf(
  body: JsonObject,
  checks: { readonly [name: string]: Check<unknown> | Optional<unknown> },
): string | undefined {
  for (const [name, check] of Object.entries(checks)) {
    const given = Object.hasOwn(body, name);
    const fits =
      typeof check === "function" ? given && check(body[name]) : !given || check.optional(body[name]);
    if (!fits) return name;
  }
  return undefined;
}
