import type { Decider, SessionName, SessionRecord } from "../engine/index.ts";
import {
  type Content,
  CountersignError,
  decodeAnswers,
  type JsonObject,
  type Part,
} from "../protocol/index.ts";
import type { AnyAgent } from "./agent.ts";
import { type RefusedAnswer, takeAnswers } from "./answers.ts";
import type { RunContext } from "./run-context.ts";

/** A message for a session: words, answers to confirmations, or both. */
export interface SubmitInput {
  readonly session: SessionName;
  readonly message: Content;
  readonly decider: Decider;
  readonly requesters?: readonly string[];
  readonly stateDelta?: JsonObject;
  readonly invocation?: string;
  readonly whilePending: "converse" | "cancel";
}

/** A message that was taken, and where to watch what comes of it. */
export interface Submission {
  readonly sessionKey: string;
  readonly refused: readonly RefusedAnswer[];
  readonly warnings: readonly string[];
  /** Undefined when nothing was set in motion. */
  readonly run?: { readonly invocation: string; readonly after: number };
  /** Words beside answers: to be said once what was answered is done. */
  readonly afterwards?: readonly Part[];
}

/** Takes a message: answers are decided, words become the user's message and start a run. */
export async function submit(run: RunContext, input: SubmitInput): Promise<Submission> {
  const { decisions, refused, warnings, rest } = decodeAnswers(input.message);
  const known = await run.engine.ledger.load({ session: input.session });
  const answersOnly = decisions.length + refused.length + warnings.length > 0;
  if (!answersOnly) return begin(run, input, { parts: input.message.parts, session: known?.session });
  if (known === undefined) {
    throw new CountersignError("unknown-session", `There is no session ${input.session.id}.`);
  }
  const { session } = known;
  const outcome = await takeAnswers(run, {
    session,
    answers: decisions,
    decider: input.decider,
    ...(input.invocation === undefined ? {} : { invocation: input.invocation }),
  });
  const all = [...refused.map(toRefused), ...outcome.refused];
  if (outcome.resumed === undefined && rest.length > 0) {
    return { ...(await begin(run, input, { parts: rest, session })), refused: all, warnings };
  }
  return {
    sessionKey: session.key,
    refused: all,
    warnings,
    ...(outcome.resumed === undefined ? {} : { run: outcome.resumed }),
    ...(rest.length === 0 ? {} : { afterwards: rest }),
  };
}

function toRefused({
  id,
  code,
  message,
}: {
  readonly id?: string;
  readonly code: RefusedAnswer["code"];
  readonly message: string;
}): RefusedAnswer {
  return { code, message, ...(id === undefined ? {} : { id }) };
}

/** Starts a run on the user's words. */
export async function startRun(
  run: RunContext,
  input: SubmitInput,
  parts: readonly Part[],
): Promise<Submission> {
  const known = await run.engine.ledger.load({ session: input.session });
  return begin(run, input, { parts, session: known?.session });
}

async function begin(
  run: RunContext,
  input: SubmitInput,
  { parts, session }: { readonly parts: readonly Part[]; readonly session: SessionRecord | undefined },
): Promise<Submission> {
  if (session !== undefined && session.open > 0 && input.whilePending === "cancel") {
    await withdrawOpen(run, session);
  }
  const { kind, name } = session === undefined ? run.agents.root : await answeringAgent(run, session);
  const received = await run.engine.receiveMessage({
    session: input.session,
    event: { author: "user", invocationId: `e-${run.newId()}`, content: { role: "user", parts } },
    frame: { kind, agent: name, path: [name] },
    known: { session },
    ...(input.requesters === undefined ? {} : { requesters: input.requesters }),
    ...(input.stateDelta === undefined ? {} : { stateDelta: input.stateDelta }),
  });
  if (!received.ok) throw new CountersignError(received.code, received.message);
  const { frame, seq } = received;
  run.names.know(frame.session, input.session);
  run.engine.step(frame);
  return {
    sessionKey: frame.session,
    refused: [],
    warnings: [],
    run: { invocation: frame.invocation, after: seq },
  };
}

// However long its turns, the last agent to speak is among these.
const RECENT_EVENTS = 100;

/** Whoever the conversation was handed to last, if it could be handed there from the root; else the root. */
async function answeringAgent({ engine, agents }: RunContext, { key }: SessionRecord): Promise<AnyAgent> {
  const { root } = agents;
  if (root.kind !== "llm" || root.subAgents.length === 0) return root;
  const recent = await engine.ledger.events(key, { last: RECENT_EVENTS });
  const last = recent.findLast(({ author, branch }) => branch === undefined && agents.isReachable(author));
  return (last === undefined ? undefined : agents.get(last.author)) ?? root;
}

// The runs end with their questions: going on with them would keep the user's new message waiting.
async function withdrawOpen({ engine }: RunContext, { key }: SessionRecord): Promise<void> {
  const { items } = await engine.ledger.confirmations({ state: "open", session: key }, { limit: 100 });
  const invocations = new Set(items.map(({ confirmation }) => confirmation.invocation));
  for (const invocation of invocations) {
    await engine.cancelRun({ session: key, invocation, reason: "the user went on to something else" });
  }
}
