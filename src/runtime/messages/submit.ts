import {
  askerOf,
  type Decider,
  type IdempotentRequest,
  type MessageInput,
  mayJudge,
  recallResponse,
  receiveMessage,
  receiveOnce,
  type SessionName,
  type SessionRecord,
  toPrincipal,
  toRememberedRun,
  unlessClosed,
  withoutTemporary,
} from "../../engine/index.ts";
import {
  CountersignError,
  isReservedName,
  type JsonObject,
  type JsonValue,
  type Part,
} from "../../protocol/index.ts";
import type { AnyAgent } from "../agents/index.ts";
import { refuseCalls } from "../history/index.ts";
import type { RunContext } from "../run-context.ts";
import { collectRun } from "../streaming/index.ts";
import { findTargets, type OpenAnswer, type RefusedAnswer, takeAnswers } from "./answers.ts";
import { type FollowUp, type SendFollowUp, sendFollowUp, storeFollowUp } from "./follow-up.ts";
import { takeAnswersOnce } from "./keyed-answers.ts";
import type { ReadMessage } from "./read-message.ts";
import type { HeaderSource } from "./request-headers.ts";

/** A message for a session: text, answers to confirmations, or both. */
export interface SubmitInput {
  readonly session: SessionName;
  readonly message: ReadMessage;
  readonly decider: Decider;
  readonly requesters?: readonly string[];
  readonly stateDelta?: JsonObject;
  readonly invocation?: string;
  readonly whilePending: "converse" | "cancel";
  /** A message with a known key is not accepted again; the first run is watched. */
  readonly once?: IdempotentRequest;
  /** The headers of the message's request; unknown if not given. */
  readonly requestHeaders?: HeaderSource;
}

/** An accepted message, and where to watch its run. */
export interface Submission {
  readonly sessionKey: string;
  readonly refused: readonly RefusedAnswer[];
  /** Votes that do not decide their questions yet. */
  readonly open?: readonly OpenAnswer[];
  readonly warnings: readonly string[];
  /** Undefined if nothing was started. */
  readonly run?: { readonly invocation: string; readonly after: number };
  /** Text beside answers: sent once the answered run has stopped, whether or not anybody waits. */
  readonly afterwards?: Promise<Submission>;
}

/** Takes a message: answers are decided; text becomes the user's message and starts a run. */
export async function submit(run: RunContext, said: SubmitInput): Promise<Submission> {
  const input = { ...said, whilePending: whilePendingFor(said) };
  const { decisions, refused, warnings, rest } = input.message;
  refuseReservedCalls(rest);
  refuseCalls(rest, "newMessage.parts");
  const known = await run.engine.ledger.load({ session: input.session });
  if (!input.message.answers) return begin(run, input, { parts: rest, session: known?.session });
  if (known === undefined) {
    throw new CountersignError("unknown-session", `There is no session ${input.session.id}.`);
  }
  const { session } = known;
  const { decider, invocation, once } = input;
  const answers = { session, answers: decisions, decider, invocation };
  const outcome =
    once === undefined
      ? await takeAnswers(run, answers, await findTargets(run, answers))
      : await takeAnswersOnce(run, { ...answers, name: input.session }, once);
  const all = [...refused.map(toRefused), ...outcome.refused];
  if (outcome.resumed === undefined && rest.length > 0) {
    return { ...(await begin(run, beside(input), { parts: rest, session })), refused: all, warnings };
  }
  const { resumed } = outcome;
  return {
    sessionKey: session.key,
    refused: all,
    open: outcome.open,
    warnings,
    ...(resumed === undefined ? {} : { run: resumed }),
    ...(resumed === undefined || rest.length === 0
      ? {}
      : await sayAfterwards(run, input, { session, parts: rest, resumed })),
  };
}

// A new message withdraws the sender's own questions; withdrawing those of others needs the right to.
function whilePendingFor({ whilePending, decider: { by } }: SubmitInput): SubmitInput["whilePending"] {
  return by.onBehalfOf === undefined || mayJudge(by) ? whilePending : "converse";
}

async function sayAfterwards(
  run: RunContext,
  { session: name, requesters, decider, stateDelta, whilePending, once }: SubmitInput,
  about: {
    readonly session: SessionRecord;
    readonly parts: readonly Part[];
    readonly resumed: NonNullable<Submission["run"]>;
  },
): Promise<Pick<Submission, "afterwards">> {
  const { session, parts, resumed } = about;
  const words: FollowUp = {
    session: name,
    sessionKey: session.key,
    invocation: resumed.invocation,
    parts,
    whilePending,
    asker: askerOf(decider.by),
    ...(requesters === undefined ? {} : { requesters }),
    ...(stateDelta === undefined ? {} : { stateDelta }),
  };
  const item = await storeFollowUp(run, words, once);
  const atRest = collectRun(run, { session: session.key, ...resumed });
  const said = unlessClosed(run.closing, atRest).then(() => sendFollowUp(run, item, sayer(run)));
  // Nobody may be waiting for this; after a failure the text stays stored, and any worker sends it.
  said.catch(() => {});
  return { afterwards: said };
}

/** Sends stored text as the user's message. */
export function sayer(run: RunContext): SendFollowUp {
  return async (words, once) => {
    const known = await run.engine.ledger.load({ session: words.session });
    const decider = { by: toPrincipal(words.asker ?? { id: words.session.user }), via: "run" };
    const input = { ...words, decider, once };
    return begin(run, input, { parts: words.parts, session: known?.session });
  };
}

// Only the gate creates questions; a model that sees one might take it for real.
function refuseReservedCalls(parts: readonly Part[]): void {
  const reserved = parts.find(({ functionCall }) => isReservedName(functionCall?.name ?? ""))?.functionCall;
  if (reserved === undefined) return;
  throw new CountersignError(
    "reserved-name",
    `A message may not call ${reserved.name}. Only the gate calls it; answer it with a function response.`,
    { details: { field: "newMessage.parts" } },
  );
}

// The answers use the key itself; the text beside them has its own.
function beside(input: Words): Words {
  const { once } = input;
  return once === undefined ? input : { ...input, once: { ...once, route: `${once.route}#beside` } };
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

/** The text of a message, without answers. */
type Words = Omit<SubmitInput, "message">;

async function begin(
  run: RunContext,
  input: Words,
  { parts, session }: { readonly parts: readonly Part[]; readonly session: SessionRecord | undefined },
): Promise<Submission> {
  const earlier = await startedBefore(run, input.once);
  if (earlier !== undefined) return earlier;
  const agent = session === undefined ? run.agents.root : await answeringAgent(run, session);
  const message = toMessage(run, input, { parts, session, agent });
  const received = await (input.once === undefined
    ? receiveMessage(run.parts, message)
    : receiveOnce(run.parts, message, input.once));
  if (!received.ok) throw new CountersignError(received.code, received.message);
  if ("response" in received) return toSubmission(received.response);
  const { frame, seq } = received;
  run.names.know(frame.session, input.session);
  run.requestHeaders.remember(frame.invocation, input.requestHeaders);
  run.parts.executions.step(frame);
  return {
    sessionKey: frame.session,
    refused: [],
    warnings: [],
    run: { invocation: frame.invocation, after: seq },
  };
}

function toMessage(
  run: RunContext,
  input: Words,
  {
    parts,
    session,
    agent: { kind, name },
  }: {
    readonly parts: readonly Part[];
    readonly session: SessionRecord | undefined;
    readonly agent: AnyAgent;
  },
): MessageInput {
  return {
    session: input.session,
    event: {
      author: "user",
      invocationId: `e-${run.newId()}`,
      content: { role: "user", parts },
      ...(input.stateDelta === undefined
        ? {}
        : { actions: { stateDelta: withoutTemporary(input.stateDelta) } }),
    },
    frame: { kind, agent: name, path: [name] },
    known: { session },
    // The runs end with their questions; continuing them would make the user's new message wait.
    ...(input.whilePending === "cancel" ? { cancelsAsking: "the user sent a new message" } : {}),
    asker: askerOf(input.decider.by),
    ...(input.requesters === undefined ? {} : { requesters: input.requesters }),
    ...(input.stateDelta === undefined ? {} : { stateDelta: input.stateDelta }),
  };
}

async function startedBefore(
  { engine }: RunContext,
  once: IdempotentRequest | undefined,
): Promise<Submission | undefined> {
  const known = once === undefined ? undefined : await recallResponse(engine.ledger, once);
  if (known === undefined) return undefined;
  if (!known.ok) throw new CountersignError(known.code, known.message);
  return toSubmission(known.response);
}

function toSubmission(response: JsonValue): Submission {
  const remembered = toRememberedRun(response);
  if (remembered === undefined) return { sessionKey: "", refused: [], warnings: [] };
  const { session, invocation, seq } = remembered;
  return { sessionKey: session, refused: [], warnings: [], run: { invocation, after: seq } };
}

// However long its turns, the last agent to speak is among these.
const RECENT_EVENTS = 100;

/** The agent that the conversation was handed to last, if it can be reached from the root; else the root. */
async function answeringAgent({ engine, agents }: RunContext, { key }: SessionRecord): Promise<AnyAgent> {
  const { root } = agents;
  if (root.kind !== "llm" || root.subAgents.length === 0) return root;
  const recent = await engine.ledger.events(key, { last: RECENT_EVENTS });
  const last = recent.findLast(({ author, branch }) => branch === undefined && agents.isReachable(author));
  return (last === undefined ? undefined : agents.get(last.author)) ?? root;
}
