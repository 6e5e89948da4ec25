import { CountersignError, type JsonObject } from "../../protocol/index.ts";
import { permitFor } from "../calls/index.ts";
import { definitionDigest, sameJson, throughJson, valueDigest } from "../common/index.ts";
import {
  forbiddenAnswer,
  type GatedCall,
  type GatedTool,
  judge,
  parseArguments,
  questionFor,
  type Ruling,
  rulesAt,
} from "../gate/index.ts";
import { useGrant } from "../grants/index.ts";
import {
  type CallRecord,
  Draft,
  isShared,
  type Judge,
  type Plan,
  type SessionName,
  type Snapshot,
  transact,
} from "../ledger/index.ts";
import type { EngineParts } from "../parts.ts";
import { askerOf } from "../people/index.ts";
import {
  forOneCall,
  MAX_OPEN_PER_SERVER,
  newConfirmation,
  openRoom,
  type Question,
  type Reserved,
  writeQuestions,
} from "../questions/index.ts";
import type { StoredCallerCall } from "./caller-outcome.ts";
import { proposedTool } from "./caller-tool.ts";
import { callerSession, isBound, type KeyBinding, writeCallKey } from "./key.ts";
import { checkProposal, type Proposal, requestersOf } from "./proposal.ts";
import { withStoredDefaults } from "./stored-defaults.ts";

/** What the gate says: the caller may run it, a person is asked, or it is denied. */
type CallerPlan =
  | ({ readonly kind: "allow" } & Ruled)
  | { readonly kind: "ask"; readonly question: Question }
  | ({ readonly kind: "deny"; readonly result: JsonObject } & Ruled);

type PlanOf<Kind extends CallerPlan["kind"]> = Extract<CallerPlan, { readonly kind: Kind }>;

/** The rules that applied, for the journal. */
type Ruled = Pick<Ruling, "policy">;

/** A call that is about to be stored. */
interface NewCall {
  readonly proposal: Proposal;
  readonly session: SessionName;
  readonly tool: GatedTool;
  readonly args: JsonObject;
  readonly argsDigest: string;
  readonly sent?: Sent;
}

/** What the model sent, before it was parsed. */
interface Sent {
  readonly args: JsonObject;
  readonly digest: string;
}

/** A call that was asked for, with its tool as the caller has it. */
export interface ProposedCall extends StoredCallerCall {
  readonly tool: GatedTool;
  /** What the ledger said, if it was there before; otherwise this process has just stored it. */
  readonly snapshot?: Snapshot;
}

/** Opens the call, or finds the one that already has this key. */
export async function propose(parts: EngineParts, proposal: Proposal): Promise<ProposedCall> {
  checkProposal(proposal);
  if (proposal.requirePolicy === true && parts.policy === undefined) throw noPolicy();
  const { by, key, app } = proposal;
  const tool = proposedTool(proposal);
  const parse = (): ReturnType<typeof parseArguments> => parseArguments(tool, proposal.args);
  const parsed = await (proposal.schema === undefined ? parse() : parts.slowChecks.run(by.id, parse));
  if (!parsed.ok) throw misfit(tool.name, parsed);
  const session = callerSession({ by: by.id, app, thread: proposal.thread ?? key });
  const argsDigest = valueDigest(parts.ledger.digestKey, parsed.args);
  const call: NewCall = {
    proposal,
    session,
    tool,
    args: parsed.args,
    argsDigest,
    ...sentIn(parts, proposal),
  };
  await parts.ready();
  const thread = await parts.ledger.load({ session, key });
  const known = knownIn(parts, thread, call);
  if (known !== undefined) return known;
  if (proposal.onlyRepeat === true) throw neverAsked(proposal);
  const plan = await planFor(parts, { tool, parsed, subject: subjectOf(proposal) }, proposal);
  if (plan.kind === "ask") await checkRoom(parts, call, thread);
  const opened = await openAt(parts, thread, { call, plan });
  if (opened.confirmation !== undefined) parts.userOpenLimit.asked(userOf(proposal));
  return opened;
}

/** Stores the call, unless somebody else was first. `thread` is what was read of its session. */
function openAt(
  parts: EngineParts,
  thread: Snapshot | undefined,
  { call, plan }: { readonly call: NewCall; readonly plan: CallerPlan },
): Promise<ProposedCall> {
  const { session, proposal } = call;
  const { by, key, tool } = proposal;
  const target = { session, key };
  return parts.quota.during(async (reserved) => {
    await checkQuota(parts, thread, { plan, reserved });
    const binding = { by: by.id, key, call: { session, tool } };
    const plans: Judge<ProposedCall> = async (snapshot, last) => {
      const found = knownIn(parts, snapshot, call);
      if (found !== undefined) return { value: found };
      const isFree = last !== "row" || !(await isBound(parts.ledger.items, binding));
      return open(parts, snapshot, call, { plan, reserved, ...(isFree ? { binding } : {}) });
    };
    return transact<ProposedCall>(parts, target, plans, { snapshot: thread });
  });
}

/** What is opened, and what it takes of the ledger's quota. */
interface Opening {
  readonly plan: CallerPlan;
  readonly reserved: Reserved;
  /** What is stored with the call. Left out: the key was bound before, and no call was made. */
  readonly binding?: KeyBinding;
}

async function checkQuota(
  { quota }: EngineParts,
  thread: Snapshot | undefined,
  { plan, reserved }: Opening,
): Promise<void> {
  await quota.admit(reserved, { isNew: thread === undefined });
  // A grant may make the question needless.
  if (plan.kind === "ask" && thread?.session.grants === undefined && !isShared(plan.question.grants))
    await quota.admitQuestion(reserved);
}

function sentIn({ ledger }: EngineParts, { sent }: Proposal): Pick<NewCall, "sent"> {
  if (sent === undefined) return {};
  const args = throughJson(sent);
  return { sent: { args, digest: valueDigest(ledger.digestKey, args) } };
}

/** The stored call with this key. Throws `key-reused` if it has other arguments, or is for another user. */
function knownIn(
  parts: EngineParts,
  snapshot: Snapshot | undefined,
  call: NewCall,
): ProposedCall | undefined {
  const { call: known } = snapshot ?? {};
  if (snapshot === undefined || known === undefined) return undefined;
  const { key, tool } = call.proposal;
  const isOthers = isForOther(known, call.proposal);
  if (known.tool === tool && !isOthers && isSame(parts, known, call))
    return { ...snapshot, call: known, snapshot, tool: call.tool };
  const how = isOthers ? "for another user" : "with different arguments";
  const what = known.tool === tool ? `${tool} ${how}` : known.tool;
  throw new CountersignError("key-reused", `The key "${key}" was already used for ${what}.`, {
    details: { field: "key", hint: "Use a new key for a new call." },
  });
}

function isForOther({ requesters = [] }: CallRecord, proposal: Proposal): boolean {
  return proposal.sameUser === true && !sameJson([...requesters], [...requestersOf(proposal)]);
}

/** Does the stored call have these arguments? */
function isSame({ ledger }: EngineParts, known: CallRecord, { args, argsDigest, sent }: NewCall): boolean {
  if (!isSentAgain(known, sent)) return false;
  // After an amendment `args` are the approver's; the key belongs to the original arguments.
  const { originalArgs, sentDigest } = known;
  const asked = originalArgs === undefined ? known.argsDigest : valueDigest(ledger.digestKey, originalArgs);
  if (asked === argsDigest) return true;
  if (sent === undefined || sentDigest === undefined) return false;
  const repeated = withStoredDefaults(sent.args, args, originalArgs ?? known.args);
  return asked === valueDigest(ledger.digestKey, repeated);
}

/**
 * Is this what the stored call was made of? What was sent tells, if it is known of both: a schema may rename it or add to
 * it, so that different calls are parsed to the same arguments.
 */
function isSentAgain({ sentDigest }: CallRecord, sent: Sent | undefined): boolean {
  return sentDigest === undefined || sent === undefined || sentDigest === sent.digest;
}

function subjectOf(proposal: Proposal): GatedCall["subject"] {
  const { by, key, app, agent = app, thread = key } = proposal;
  return {
    app,
    agent,
    user: userOf(proposal),
    requesters: requestersOf(proposal),
    asker: askerOf(by),
    session: { id: thread },
  };
}

async function planFor(
  parts: EngineParts,
  call: GatedCall,
  { note }: Pick<Proposal, "note">,
): Promise<CallerPlan> {
  const rules = rulesAt(parts, "api");
  const ruling = await judge(rules, call);
  if (ruling.outcome === "deny")
    return { kind: "deny", result: forbiddenAnswer(ruling.why), ...ruledIn(ruling) };
  // Amended arguments and the claim are judged with it.
  await rules.definitions.keep(call.tool.definition);
  if (ruling.outcome === "allow") return { kind: "allow", ...ruledIn(ruling) };
  return { kind: "ask", question: questionFor(call, ruling, note === undefined ? {} : { note }) };
}

async function open(
  parts: EngineParts,
  snapshot: Snapshot | undefined,
  input: NewCall,
  { plan, reserved, binding }: Opening,
): Promise<Plan<ProposedCall>> {
  if (snapshot?.session.deletedAt !== undefined)
    throw new CountersignError("session-deleted", "The thread of this call was deleted. Use a new key.");
  await parts.quota.admit(reserved, { isNew: snapshot === undefined });
  const { now } = snapshot ?? parts.ledger;
  const draft = new Draft(parts, now, snapshot?.session ?? { key: parts.newId(now), create: input.session });
  if (binding !== undefined) writeCallKey(draft, binding);
  const opened = await openAs(parts, draft, { input, snapshot, plan, reserved });
  const { id } = input.session;
  return { draft, reserved, value: { ...throughJson(opened), session: { id }, tool: input.tool } };
}

/** As it is stored. */
type Opened = Pick<ProposedCall, "call" | "confirmation">;

async function openAs(
  parts: EngineParts,
  draft: Draft,
  at: Opening & { readonly input: NewCall; readonly snapshot: Snapshot | undefined },
): Promise<Opened> {
  const { input, snapshot, plan, reserved } = at;
  const call = newCall(draft.sessionKey, input);
  const by = input.proposal.by.id;
  if (plan.kind === "allow") return allow(parts, draft, { call, by, ruled: plan });
  if (plan.kind === "deny") return deny(draft, call, plan);
  const { question } = plan;
  const grant = await useGrant(parts, draft, { call, question });
  if (grant !== undefined) return allow(parts, draft, { call: { ...call, grant }, by, ruled: question });
  checkThreadRoom(parts, input, snapshot);
  await parts.quota.admitQuestion(reserved);
  const isAlone = input.proposal.thread === undefined;
  return openQuestion(parts, draft, call, isAlone ? forOneCall(question) : question);
}

/** The caller may claim it. */
function allow(
  parts: EngineParts,
  draft: Draft,
  { call, by, ruled }: { readonly call: CallRecord; readonly by: string; readonly ruled: Ruled },
): Opened {
  const allowed: CallRecord = { ...call, status: "ready", permit: permitFor(parts, call) };
  draft.insertCall(allowed);
  const { id, tool, argsDigest } = call;
  draft.journal("call-allowed", { call: id, tool, argsDigest, by, ...ruledIn(ruled) });
  return { call: allowed };
}

function deny(draft: Draft, call: CallRecord, { result, ...ruled }: PlanOf<"deny">): Opened {
  const status = "denied";
  const denied: CallRecord = { ...call, status, result, endedAt: draft.now };
  draft.insertCall(denied);
  const { id, tool, argsDigest } = call;
  draft.journal("calls-answered", { calls: [{ call: id, tool, status, argsDigest, ...ruledIn(ruled) }] });
  return { call: denied };
}

// Calls without a thread have a session each, so that no session's limit holds them: a caller has one of its own.
async function checkRoom(parts: EngineParts, call: NewCall, thread: Snapshot | undefined): Promise<void> {
  checkThreadRoom(parts, call, thread);
  const user = userOf(call.proposal);
  if (await parts.userOpenLimit.isFull(user)) throw tooMany(`${user} has ${MAX_OPEN_PER_SERVER}`);
}

function userOf({ by }: Pick<Proposal, "by">): string {
  return by.onBehalfOf ?? by.id;
}

function checkThreadRoom(
  { settings }: EngineParts,
  { session }: NewCall,
  thread: Snapshot | undefined,
): void {
  if (thread !== undefined && openRoom(settings, thread.session) === 0)
    throw tooMany(`the thread ${session.id} has ${settings.maxOpen}`);
}

// Nothing is stored, so the same key may ask again later.
function tooMany(where: string): CountersignError {
  return new CountersignError("too-many-open", `Too many open confirmations: ${where}. Try again later.`);
}

function ruledIn({ policy }: Ruled): Ruled {
  return policy === undefined ? {} : { policy };
}

function openQuestion(parts: EngineParts, draft: Draft, call: CallRecord, question: Question): Opened {
  const session = { app: call.app, user: question.requesters.at(-1) ?? "" };
  const confirmation = newConfirmation(parts, draft.now, { session, call, frame: undefined, question });
  const waiting: CallRecord = { ...call, confirmation: confirmation.id, rounds: 1 };
  draft.insertCall(waiting);
  writeQuestions(draft, undefined, [{ call: waiting, confirmation, policy: question.policy }]);
  return { call: waiting, confirmation };
}

function newCall(session: string, { proposal, tool, args, argsDigest, sent }: NewCall): CallRecord {
  const { key, app, agent = app, turn } = proposal;
  return {
    id: `${session}.${key}`,
    session,
    app,
    turn: 0,
    ord: 0,
    wireId: key,
    agent,
    tool: tool.name,
    args,
    unparsed: false,
    argsDigest,
    ...(sent === undefined ? {} : { sentDigest: sent.digest }),
    definitionDigest: definitionDigest(tool.definition),
    requesters: requestersOf(proposal),
    asker: askerOf(proposal.by),
    secrets: tool.secrets,
    repeatable: tool.repeatable,
    runs: "caller",
    ...(turn === undefined ? {} : { callerTurn: turn }),
    status: "waiting",
    attempt: 0,
    rounds: 0,
    refused: false,
  };
}

function neverAsked({ key, tool }: Proposal): CountersignError {
  return new CountersignError("unknown-call", `Nobody was asked about the call ${key} of ${tool}.`);
}

function noPolicy(): CountersignError {
  const message =
    "This server has no policy, so nothing says when a person is asked. Start it with --policy FILE.";
  return new CountersignError("malformed-request", message, { details: { field: "requirePolicy" } });
}

function misfit(
  name: string,
  { field, message }: { readonly field: string; readonly message: string },
): CountersignError {
  const place = field === "" ? "args" : `args.${field}`;
  return new CountersignError("arguments-mismatch", `Invalid arguments for ${name}: ${place}: ${message}`, {
    details: { field: place },
  });
}
