import { type Acting, type CallerOutcome, type Engine, partsOf } from "../../engine/index.ts";
import { decodeAnswers } from "../../protocol/index.ts";
import { type ButtonResult, ThreadGate } from "../thread-gate.ts";
import { checkRules, type GivenRule, type ToolRule } from "../tool-rule.ts";
import { type OpenRequest, openRequests, REQUEST_CONFIRMATION } from "./events.ts";
import { GatedTool, idOf, waits } from "./gated-tool.ts";
import type { AdkContent, AdkSession, AdkTool } from "./host-types.ts";
import { KeptAnswers } from "./kept-answers.ts";

/** Which conversation a session is, as the program around the agent knows it. */
export interface Conversation {
  /** One thread for one session: include the user if sessions of different users can have the same id. */
  readonly thread: string;
  /** Whom the agent works for, as your server has authenticated them. */
  readonly user?: string;
}

/** Options of {@link createGate}. */
export interface AdkGateOptions {
  readonly engine: Engine;
  /** The app that its calls are listed under. */
  readonly app: string;
  /** Which conversation a session is. */
  readonly identify: (session: AdkSession) => Conversation;
}

/** When people are asked, by the tool's name. Annotate the arguments of functions: `({ amount }: Payment) => amount > 100`. */
export interface Rules {
  readonly [tool: string]: GivenRule<never> | undefined;
}

/** A user's message that answers requests for confirmation. */
export interface ConfirmationMessage {
  role: "user";
  parts: { functionResponse: { id: string; name: string; response: Record<string, unknown> } }[];
}

/** The message to go on with, or what the session still waits for. */
export type Resumption =
  | { readonly ready: true; readonly newMessage: ConfirmationMessage }
  /** Waiting for a decision, or for somebody to settle an unknown outcome. Empty if it waits for nothing of ours. */
  | { readonly ready: false; readonly waiting: readonly CallerOutcome[] };

/** The gate of a program that runs agents of Google's ADK. */
export interface AdkGate {
  /**
   * The tools of an agent, behind the gate. One with `requireConfirmation` and no rule is asked about as that says; any
   * other without a rule is not gated, unless the engine has a policy. Pass all tools of the agent: when a call waits,
   * the answers of the calls beside it are kept, which the ADK drops.
   */
  tools<Tool extends AdkTool>(tools: readonly Tool[], rules?: Rules): Tool[];
  /**
   * Records the confirmations in a message of an ADK front end as decisions of this person. The message alone decides
   * nothing: call this only with a person whom your server has authenticated. Those that cannot be read decide nothing, and
   * their refusals (`malformed-decision`) come last.
   */
  record(session: AdkSession, message: AdkContent, acting: Acting): Promise<readonly ButtonResult[]>;
  /** The message to run the agent with, once every question is answered. */
  resume(session: AdkSession): Promise<Resumption>;
  /** Withdraws every call of a conversation that has not started: the user moved on. Returns how many. */
  cancel(thread: string, reason: string): Promise<number>;
}

const REFUSED: ReadonlySet<CallerOutcome["status"]> = new Set(["denied", "expired", "cancelled"]);

/** Makes the gate. People are asked in the ledger, and an approved call runs at most once. */
export function createGate({ engine, app, identify }: AdkGateOptions): AdkGate {
  const kept = new KeptAnswers();
  const hasPolicy = partsOf(engine).policy !== undefined;
  const gateOf = (session: AdkSession, agent: string = app): ThreadGate => {
    const { thread, user } = identify(session);
    return new ThreadGate({ engine, app, agent, thread, ...(user === undefined ? {} : { user }) });
  };
  return {
    tools: (tools, rules = {}) => {
      checkRules(rules, new Set(tools.map(({ name }) => name)));
      return tools.map((tool) => {
        const given = Object.hasOwn(rules, tool.name) ? rules[tool.name] : undefined;
        const rule = given === true ? {} : given;
        const options = { hasPolicy, gateOf, kept };
        if (rule === undefined) return new GatedTool(tool, options).wrapped;
        // Called with the arguments of its own tool only.
        return new GatedTool(tool, { ...options, rule: rule as ToolRule<unknown> }).wrapped;
      });
    },
    record: (session, message, acting) =>
      record({ gate: gateOf(session), open: openRequests(session.events) }, message, acting),
    resume: (session) => resume(gateOf(session), openRequests(session.events)),
    cancel: (thread, reason) => new ThreadGate({ engine, app, thread }).cancel(reason),
  };
}

async function record(
  { gate, open }: { readonly gate: ThreadGate; readonly open: readonly OpenRequest[] },
  message: AdkContent,
  acting: Acting,
): Promise<readonly ButtonResult[]> {
  const { decisions, refused } = decodeAnswers(message);
  const results: ButtonResult[] = [];
  for (const { id, confirmed: approved, reason } of decisions) {
    const request = open.find((each) => each.id === id);
    const said = reason === undefined ? {} : { reason };
    results.push(
      request === undefined
        ? { ok: false, code: "unknown-call", message: `The session does not wait for ${id}.` }
        : await gate.press({ id: idOf(request), approved, ...said }, { via: "google-adk", ...acting }),
    );
  }
  // Results of other functions are the session's, not the gate's.
  for (const { code, message: why, id } of refused)
    if (code === "malformed-decision")
      results.push({ ok: false, code, message: id === undefined ? why : `${id}: ${why}` });
  return results;
}

async function resume(gate: ThreadGate, requests: readonly OpenRequest[]): Promise<Resumption> {
  const found = await Promise.all(
    requests.map(async (request) => ({ request, outcome: await gate.find({ id: idOf(request) }) })),
  );
  const known = found.flatMap(({ request, outcome }) =>
    outcome === undefined ? [] : [{ request, outcome }],
  );
  const waiting = known.map(({ outcome }) => outcome).filter(waits);
  if (known.length === 0 || known.length < found.length || waiting.length > 0)
    return { ready: false, waiting };
  const parts = known.map(({ request, outcome }) => {
    const response = { confirmed: !REFUSED.has(outcome.status) };
    return { functionResponse: { id: request.id, name: REQUEST_CONFIRMATION, response } };
  });
  return { ready: true, newMessage: { role: "user", parts } };
}
