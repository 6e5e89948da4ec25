import type { JsonObject } from "../../protocol/index.ts";
import { isThenable, type ParseOutcome, redact } from "../common/index.ts";
import type { StoredCall } from "../host.ts";
import type { Asker, PolicyNote } from "../ledger/index.ts";
import type { EngineParts } from "../parts.ts";
import type { Definitions } from "./definitions.ts";
import type { AuthorGate, GatedTool } from "./gated-tool.ts";
import type { EntryPoint, Policy, PolicyCall, PolicySource } from "./policy.ts";
import type { PolicyTexts } from "./policy-texts.ts";
import { denialBy, opinionOf } from "./policy-verdicts.ts";
import { type Ruling, rule, type Verdict } from "./verdict.ts";

/** What the calls of one entry point are judged with. */
export interface GateRules {
  readonly entryPoint: EntryPoint;
  readonly policies: readonly (Policy | PolicySource)[];
  readonly definitions: Definitions;
  readonly policyTexts: PolicyTexts;
  /** The state that a session sees, by its key. */
  state(session: string): Promise<JsonObject>;
  now(): number;
}

/** What the calls of this entry point are judged with: the engine's policy and the app's own. */
export function rulesAt(
  { ledger, definitions, policyTexts, policy }: EngineParts,
  entryPoint: EntryPoint,
  own?: Policy | PolicySource,
): GateRules {
  return {
    entryPoint,
    policies: [policy, own].filter((one) => one !== undefined),
    definitions,
    policyTexts,
    state: (session) => ledger.state(session),
    now: () => ledger.now,
  };
}

/** Which call is judged, and for whom it is made. */
export interface CallSubject {
  readonly app: string;
  readonly agent: string;
  readonly user: string;
  readonly requesters: readonly string[];
  /** Who sent the message or made the call, as they were known then. */
  readonly asker?: Asker | undefined;
  /** No key if the session does not exist yet. */
  readonly session: { readonly id: string; readonly key?: string };
}

/** A call whose arguments have been parsed, on its way to the gate. */
export interface GatedCall {
  readonly tool: GatedTool;
  readonly parsed: Pick<Extract<ParseOutcome<unknown>, { ok: true }>, "args" | "value">;
  readonly subject: CallSubject;
}

/**
 * Judges a call, from any entry point: what its tool's author, the policies and the hooks say together. The strictest
 * wins. If anything fails, a person is asked.
 */
export function judge(
  rules: GateRules,
  call: GatedCall,
  hooks: readonly Verdict[] = [],
): Ruling | Promise<Ruling> {
  const gates = gatesOf(call);
  // Most tools have a plain answer, and a promise costs time at every call.
  return gates instanceof Promise
    ? gates.then((found) => judgeAll(rules, call, { gates: found, hooks }))
    : judgeAll(rules, call, { gates, hooks });
}

/** What the author and the hooks say of a call. */
interface SaidBeside {
  readonly gates: readonly AuthorGate[];
  readonly hooks: readonly Verdict[];
}

function judgeAll(rules: GateRules, call: GatedCall, beside: SaidBeside): Ruling | Promise<Ruling> {
  if (rules.policies.length === 0) return rule([...authorsIn(call, beside.gates), ...beside.hooks]);
  const state = stateFor(rules, call.subject);
  return state instanceof Promise
    ? state.then((read) => judgeByPolicy(rules, call, beside, read))
    : judgeByPolicy(rules, call, beside, state);
}

function judgeByPolicy(
  rules: GateRules,
  call: GatedCall,
  { gates, hooks }: SaidBeside,
  state: JsonObject,
): Ruling | Promise<Ruling> {
  const { tool, parsed, subject } = call;
  const described = describe(rules, { tool, args: parsed.args, subject }, state);
  const verdicts: Verdict[] = [...authorsIn(call, gates)];
  const notes: PolicyNote[] = [];
  const keeping: Promise<void>[] = [];
  for (const policy of rules.policies) {
    const { verdicts: said, note, text } = opinionOf(policy, described, "confirm");
    verdicts.push(...said);
    if (note === undefined) continue;
    notes.push(note);
    const kept = keepText(rules, note, text);
    if (kept !== undefined) keeping.push(kept);
  }
  verdicts.push(...hooks);
  const ruling = notes.length === 0 ? rule(verdicts) : { ...rule(verdicts), policy: notes };
  return keeping.length === 0 ? ruling : Promise.all(keeping).then(() => ruling);
}

/** Stores what the note refers to, if it is not stored. */
function keepText(
  { policyTexts }: GateRules,
  { version }: PolicyNote,
  text: string | undefined,
): Promise<void> | undefined {
  return version === undefined || text === undefined ? undefined : policyTexts.keep(version, text);
}

function authorsIn({ tool }: GatedCall, gates: readonly AuthorGate[]): readonly Verdict[] {
  return gates.map((source) => ({ source, outcome: "confirm", why: REASONS[source](tool) }));
}

/** The reason of a policy that now denies this stored call, if any. A policy that throws denies. */
export function denialOf(
  rules: GateRules,
  tool: GatedTool,
  about: StoredCall,
): string | undefined | Promise<string | undefined> {
  const call = { tool, args: about.call.args, subject: storedSubject(about) };
  const state = stateFor(rules, call.subject);
  return state instanceof Promise
    ? state.then((read) => denialIn(rules, call, read))
    : denialIn(rules, call, state);
}

function denialIn(rules: GateRules, call: RuledCall, state: JsonObject): string | undefined {
  const described = describe(rules, call, state);
  for (const policy of rules.policies) {
    const denial = denialBy(policy, described);
    if (denial !== undefined) return denial;
  }
  return undefined;
}

/** Which call a stored one is. */
export function storedSubject({ call, session, frame }: StoredCall): CallSubject {
  const { app, agent, requesters = [session.user] } = call;
  // A gated function's session has no user of its own: the user is the caller.
  const user = call.frame === undefined ? (requesters.at(-1) ?? session.user) : session.user;
  const asker = frame?.asker ?? call.asker;
  return { app, agent, user, requesters, asker, session: { id: session.id, key: call.session } };
}

const REASONS: { readonly [source in AuthorGate]: (tool: GatedTool) => string } = {
  tool: () => "the tool requires confirmation",
  toolset: () => "its toolset requires confirmation",
  manifest: () => "the manifest requires approval",
  mcp: () => "the policy for its MCP server requires confirmation",
  remote: ({ definition }) => `the remote agent ${definition.server ?? ""} asks`,
};

function gatesOf({
  tool,
  parsed,
  subject,
}: GatedCall): readonly AuthorGate[] | Promise<readonly AuthorGate[]> {
  const { agent: agentName, user: userId, session } = subject;
  try {
    const gates = tool.gates(parsed.value, { agentName, userId, sessionId: session.id });
    return isThenable<readonly AuthorGate[]>(gates) ? Promise.resolve(gates).catch(() => FAILED) : gates;
  } catch {
    return FAILED;
  }
}

/** If a predicate fails, a person is asked. */
const FAILED: readonly AuthorGate[] = ["tool"];

interface RuledCall {
  readonly tool: GatedTool;
  readonly args: JsonObject;
  readonly subject: CallSubject;
}

/** Not a promise if the state is not needed: a file that is read again in between could need it. */
function stateFor(rules: GateRules, { session: { key } }: CallSubject): JsonObject | Promise<JsonObject> {
  return key === undefined || !rules.policies.some(needsState) ? {} : rules.state(key);
}

function needsState(policy: Policy | PolicySource): boolean {
  return typeof policy === "function" || policy.readsState !== false;
}

function describe(rules: GateRules, { tool, args, subject }: RuledCall, state: JsonObject): PolicyCall {
  const { app, agent, user, requesters, asker, session } = subject;
  const { annotations, server: source = tool.source } = tool.definition;
  const about = {
    entryPoint: rules.entryPoint,
    app,
    agent,
    tool: tool.name,
    args,
    shown: tool.secrets.length === 0 ? args : redact(args, tool.secrets),
    user,
    requesters,
    roles: asker?.roles ?? [],
    authenticated: asker?.authenticated ?? false,
    session: session.id,
    state,
    at: rules.now(),
  };
  if (annotations === undefined && source === undefined) return about;
  return {
    ...about,
    ...(annotations === undefined ? {} : { annotations }),
    ...(source === undefined ? {} : { source }),
  };
}
