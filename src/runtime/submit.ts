import type { Decider, SessionName } from "../engine/index.ts";
import {
  type Content,
  CountersignError,
  decodeAnswers,
  type JsonObject,
  type Part,
} from "../protocol/index.ts";
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
  if (!answersOnly) return startRun(run, input, input.message.parts);
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
  if (outcome.resumed === undefined && decisions.length === 0 && rest.length > 0) {
    return { ...(await startRun(run, input, rest)), refused: all, warnings };
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
  if (input.whilePending === "cancel") await withdrawOpen(run, input);
  const { root } = run.agents;
  const received = await run.engine.receiveMessage({
    session: input.session,
    event: { author: "user", invocationId: `e-${run.newId()}`, content: { role: "user", parts } },
    frame: { kind: root.kind, agent: root.name, path: [root.name] },
    ...(input.requesters === undefined ? {} : { requesters: input.requesters }),
    ...(input.stateDelta === undefined ? {} : { stateDelta: input.stateDelta }),
  });
  if (!received.ok) throw new CountersignError(received.code, received.message);
  const { frame, seq } = received;
  run.engine.step(frame);
  return {
    sessionKey: frame.session,
    refused: [],
    warnings: [],
    run: { invocation: frame.invocation, after: seq },
  };
}

async function withdrawOpen(run: RunContext, input: SubmitInput): Promise<void> {
  const { ledger } = run.engine;
  const known = await ledger.load({ session: input.session });
  if (known === undefined || known.session.open === 0) return;
  const open = await ledger.confirmations({ state: "open", session: known.session.key }, { limit: 100 });
  for (const { confirmation } of open.items) {
    await run.engine.cancel(confirmation.id, {
      by: input.decider.by,
      reason: "the user went on to something else",
    });
  }
}
