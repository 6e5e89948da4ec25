import type { Decider, DecisionReceipt, Refusal, SessionRecord } from "../engine/index.ts";
import {
  type AnsweredConfirmation,
  CountersignError,
  type ErrorCode,
  type StoredEvent,
} from "../protocol/index.ts";
import type { RunContext } from "./run-context.ts";

/** An answer in a message that was not taken, and why. */
export interface RefusedAnswer {
  readonly id?: string;
  /** The confirmation that it is about, where there is one of this session. */
  readonly confirmation?: string;
  readonly code: ErrorCode;
  readonly message: string;
}

/** What became of the answers in one message. */
export interface AnswersOutcome {
  readonly refused: readonly RefusedAnswer[];
  /** Where to watch from: the invocation that goes on, and the events known before it did. */
  readonly resumed?: { readonly invocation: string; readonly after: number };
}

export interface AnswersInput {
  readonly session: SessionRecord;
  readonly answers: readonly AnsweredConfirmation[];
  readonly decider: Decider;
  /** If the client named one, it must be the request's own. */
  readonly invocation?: string;
}

/** Commits every answer of a message as the decision it is, each on its own. */
export async function takeAnswers(run: RunContext, input: AnswersInput): Promise<AnswersOutcome> {
  const refused: RefusedAnswer[] = [];
  let resumed: AnswersOutcome["resumed"];
  for (const answer of input.answers) {
    const outcome = await takeAnswer(run, input, answer);
    if (outcome.ok) resumed ??= outcome;
    else refused.push({ id: answer.id, ...toRefusedAnswer(outcome) });
  }
  return { refused, ...(resumed === undefined ? {} : { resumed }) };
}

type Taken =
  | { readonly ok: true; readonly invocation: string; readonly after: number }
  | Pick<Refusal, "ok" | "code" | "message" | "confirmation">;

function toRefusedAnswer({ code, message, confirmation }: Extract<Taken, { ok: false }>): RefusedAnswer {
  return { code, message, ...(confirmation === undefined ? {} : { confirmation: confirmation.id }) };
}

async function takeAnswer(
  run: RunContext,
  input: AnswersInput,
  answer: AnsweredConfirmation,
): Promise<Taken> {
  const { session, decider } = input;
  const [found, other] = await findConfirmation(run, session, answer.id);
  if (other !== undefined)
    return refuse("ambiguous", `The id ${answer.id} is that of a confirmation and of another one's call.`);
  if (found === undefined)
    return refuse("unknown-confirmation", `No confirmation of this session has the id ${answer.id}.`);
  if (input.invocation !== undefined && input.invocation !== found.invocation) {
    return refuse(
      "wrong-invocation",
      `The confirmation ${answer.id} belongs to the invocation ${found.invocation}.`,
    );
  }
  const { confirmed, payload, reason } = answer;
  const decision = {
    id: found.id,
    confirmed,
    ...(payload === undefined ? {} : { payload }),
    ...(reason === undefined ? {} : { reason }),
  };
  const before = session.nextSeq - 1;
  const receipt: DecisionReceipt | Refusal = await run.engine.decide(decision, decider);
  if (!receipt.ok) return receipt;
  const after = receipt.repeated ? await closedAt(run, session.key, found.id) : before;
  return { ok: true, invocation: found.invocation, after };
}

/** By the confirmation's own id, or by that of the call it is about; never one of another session. */
async function findConfirmation(
  run: RunContext,
  session: SessionRecord,
  id: string,
): Promise<readonly { readonly id: string; readonly invocation: string }[]> {
  const { ledger } = run.engine;
  const direct = await ledger.load({ confirmation: id });
  const own = direct?.session.key === session.key ? direct.confirmation : undefined;
  const byCall = (await ledger.load({ call: `${session.key}.${id}` }))?.confirmation;
  return [own, byCall].filter((found) => found !== undefined);
}

/** Where a question was closed: the stored outcome of its decision is what the session says from there on. */
export async function closedAt(run: RunContext, session: string, id: string): Promise<number> {
  const events = await run.engine.ledger.events(session);
  return (
    events.findIndex((event: StoredEvent) => event.closings?.some((closing) => closing.id === id) === true) +
    1
  );
}

function refuse(code: ErrorCode, message: string): Pick<Refusal, "ok" | "code" | "message"> {
  return { ok: false, code, message };
}

/** The refusals of a message as one error, for callers that cannot show them one by one. */
export function refusedError(refused: readonly RefusedAnswer[]): CountersignError {
  const first = refused[0];
  const others = refused.length > 1 ? ` (and ${refused.length - 1} more)` : "";
  return new CountersignError(
    first?.code ?? "malformed-decision",
    `${first?.message ?? "The answer was refused."}${others}`,
    {
      details: { refused: refused.map(({ id = "", ...one }) => ({ id, ...one })) },
    },
  );
}
