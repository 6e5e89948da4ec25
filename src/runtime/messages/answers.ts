import {
  type Decider,
  describeProgress,
  firstQuestion,
  isAnswered,
  type OnceKey,
  type RefusedDecision,
  type SessionRecord,
  type Snapshot,
} from "../../engine/index.ts";
import {
  type AnsweredConfirmation,
  CountersignError,
  canonicalJson,
  type ErrorCode,
  type StoredEvent,
} from "../../protocol/index.ts";
import type { RunContext } from "../run-context.ts";

/** A refused answer in a message, and why. */
export interface RefusedAnswer {
  readonly id?: string;
  /** The confirmation that it is about, if it belongs to this session. */
  readonly confirmation?: string;
  readonly code: ErrorCode;
  readonly message: string;
}

/** A vote in a message that does not decide its question yet. */
export interface OpenAnswer {
  readonly confirmation: string;
  /** How far the question is. */
  readonly message: string;
}

/** The results of the answers in one message. */
export interface AnswersOutcome {
  readonly refused: readonly RefusedAnswer[];
  /** Votes that were stored, on questions that need more of them. */
  readonly open: readonly OpenAnswer[];
  /** Where to watch from: the invocation that continues, and the events known before that. */
  readonly resumed?: { readonly invocation: string; readonly after: number };
}

export interface AnswersInput {
  readonly session: SessionRecord;
  readonly answers: readonly AnsweredConfirmation[];
  readonly decider: Decider;
  /** If the client named one, it must be the request's own. */
  readonly invocation?: string | undefined;
  /** The key of the request, if it has one: the same request does not decide a second time. */
  readonly key?: OnceKey;
}

/** The question that an answer is about, looked up once; or why there is none. */
export type Target =
  | {
      readonly given: string;
      readonly id: string;
      readonly invocation: string;
      readonly byCall: boolean;
      /** The question as it was found; not stored. */
      readonly seen?: Snapshot | undefined;
    }
  | ({ readonly given: string } & Pick<RefusedAnswer, "code" | "message">);

/** Finds the question of each answer in a message. Decides nothing. */
export async function findTargets(
  run: RunContext,
  { session, answers, invocation }: Omit<AnswersInput, "decider">,
): Promise<readonly Target[]> {
  const targets: Target[] = [];
  for (const { id } of answers) targets.push(await findTarget(run, session, { given: id, invocation }));
  return targets;
}

/** Commits every answer of a message as a decision on its question, independently. */
export async function takeAnswers(
  run: RunContext,
  input: AnswersInput,
  targets: readonly Target[],
): Promise<AnswersOutcome> {
  const refused: RefusedAnswer[] = [];
  const open: OpenAnswer[] = [];
  let resumed: AnswersOutcome["resumed"];
  const undecided = contradicted(input.answers, targets);
  for (const [place, answer] of input.answers.entries()) {
    const found = targets.find(({ given }) => given === answer.id);
    // The first decision changes the session, so the records of the others are out of date.
    const target =
      place > 0 && found !== undefined && "seen" in found ? { ...found, seen: undefined } : found;
    if (target !== undefined && "id" in target && undecided.has(target.id)) {
      refused.push({ id: answer.id, confirmation: target.id, ...CONTRADICTION });
      continue;
    }
    const outcome = await takeAnswer(run, input, { answer, target, place });
    if (outcome.ok) {
      resumed ??= outcome.where;
      if (outcome.open !== undefined) open.push(outcome.open);
    } else refused.push({ id: answer.id, ...toRefusedAnswer(outcome) });
  }
  return { refused, open, ...(resumed === undefined ? {} : { resumed }) };
}

const CONTRADICTION = {
  code: "malformed-decision",
  message:
    "The message answers this question twice with different answers, by its own id and by the call's id.",
} as const;

/** The questions that a message answers twice and differently, by different ids: none of them is decided. */
function contradicted(
  answers: readonly AnsweredConfirmation[],
  targets: readonly Target[],
): ReadonlySet<string> {
  const said = new Map<string, string>();
  const undecided = new Set<string>();
  for (const { id: given, confirmed, payload = null, reason = "" } of answers) {
    const target = targets.find((one) => one.given === given);
    if (target === undefined || !("id" in target)) continue;
    const verdict = canonicalJson({ confirmed, payload, reason });
    if ((said.get(target.id) ?? verdict) !== verdict) undecided.add(target.id);
    said.set(target.id, verdict);
  }
  return undecided;
}

type Taken =
  | {
      readonly ok: true;
      readonly where: NonNullable<AnswersOutcome["resumed"]>;
      readonly open?: OpenAnswer;
    }
  | Pick<RefusedDecision, "ok" | "code" | "message" | "confirmation">;

function toRefusedAnswer({ code, message, confirmation }: Extract<Taken, { ok: false }>): RefusedAnswer {
  return { code, message, ...(confirmation === undefined ? {} : { confirmation: confirmation.id }) };
}

async function takeAnswer(
  run: RunContext,
  { session, decider, key }: AnswersInput,
  {
    answer,
    target,
    place,
  }: { readonly answer: AnsweredConfirmation; readonly target: Target | undefined; readonly place: number },
): Promise<Taken> {
  if (target === undefined) return { ok: false, ...unknownTo(answer.id) };
  if ("code" in target) return { ok: false, code: target.code, message: target.message };
  const { confirmed, payload, reason } = answer;
  const decision = {
    id: target.id,
    confirmed,
    ...(payload === undefined ? {} : { payload }),
    ...(reason === undefined ? {} : { reason }),
  };
  const before = session.nextSeq - 1;
  const { decisions } = run.engine;
  const receipt = await (key === undefined
    ? decisions.decide(decision, decider, target.seen)
    : decisions.decideOnce(decision, decider, { ...key, id: `${key.id}.${place}` }, target.seen));
  if (!receipt.ok) return target.byCall ? withOpenQuestion(receipt) : receipt;
  const { invocation } = target;
  const { id, status } = receipt.confirmation;
  if (status === "requested") {
    const message = `Your vote is recorded; more are needed. So far: ${describeProgress(receipt.confirmation)}.`;
    return { ok: true, where: { invocation, after: before }, open: { confirmation: id, message } };
  }
  const after = receipt.repeated ? await closedAt(run, session.key, target.id) : before;
  return { ok: true, where: { invocation, after } };
}

/** By the question's own id, or by that of the call whose first question it is; never one of another session. */
async function findTarget(
  run: RunContext,
  session: SessionRecord,
  { given, invocation }: { readonly given: string; readonly invocation: string | undefined },
): Promise<Target> {
  const { ledger } = run.engine;
  const direct = await ledger.load({ confirmation: given });
  const own = direct?.session.key === session.key ? direct.confirmation : undefined;
  const byCall = await firstQuestion(ledger, `${session.key}.${given}`);
  if (own !== undefined && byCall !== undefined) {
    const message = `The id ${given} is ambiguous: it is the id of a confirmation and of a different call.`;
    return { given, code: "ambiguous", message };
  }
  const found = own ?? byCall;
  if (found === undefined) return { given, ...unknownTo(given) };
  if (invocation !== undefined && invocation !== found.invocation) {
    const message = `The confirmation ${given} belongs to the invocation ${found.invocation}.`;
    return { given, code: "wrong-invocation", message };
  }
  const target = { given, id: found.id, invocation: found.invocation, byCall: own === undefined };
  return direct === undefined || own === undefined ? target : { ...target, seen: direct };
}

function unknownTo(given: string): Pick<RefusedAnswer, "code" | "message"> {
  return { code: "unknown-confirmation", message: `No confirmation of this session has the id ${given}.` };
}

// A client that knows only the call must be told the id of its open question.
function withOpenQuestion(refusal: RefusedDecision): RefusedDecision {
  const { call, confirmation, message } = refusal;
  const open = call?.confirmation;
  if (open === undefined || open === confirmation?.id || isAnswered(call?.status ?? "cancelled"))
    return refusal;
  const advice = `The call's id answers only its first question. The latest question is ${open}.`;
  return { ...refusal, message: `${message} ${advice}` };
}

/** The event at which a question was closed; the stored outcome follows after it. */
export async function closedAt(run: RunContext, session: string, id: string): Promise<number> {
  const events = await run.engine.ledger.events(session);
  return (
    events.findIndex((event: StoredEvent) => event.closings?.some((closing) => closing.id === id) === true) +
    1
  );
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
