import {
  type ConfirmationWithCall,
  type SessionRecord,
  toConfirmation,
  toPrincipal,
} from "../../engine/index.ts";
import { type Turn, toTurn } from "../history/index.ts";
import { limitRun, type RunLimits } from "../loop/index.ts";
import type { RunContext } from "../run-context.ts";
import { type Collected, collectRun, type RunEvent, watchRun } from "../streaming/index.ts";
import { type OpenAnswer, type RefusedAnswer, refusedError } from "./answers.ts";
import type { Submission } from "./submit.ts";

/** The turn that a message leads to. Throws if it had only answers and all were refused. */
export async function turnAfter(run: RunContext, submission: Submission, limits: RunLimits): Promise<Turn> {
  const { sessionKey: session, refused, open = [], afterwards } = submission;
  const warnings = [...submission.warnings, ...open.map(({ message }) => message)];
  const told = {
    ...(refused.length === 0 ? {} : { refused }),
    ...(warnings.length === 0 ? {} : { warnings }),
  };
  if (submission.run === undefined) {
    if (refused.length > 0) throw refusedError(refused);
    return { ...(await turnOf(run, { session, invocation: "" }, { events: [], unknown: [] })), ...told };
  }
  const { invocation } = submission.run;
  const release = limitRun(run, { session, invocation }, limits);
  const collected = await collectRun(run, { session, ...submission.run }).finally(release);
  if (afterwards === undefined)
    return { ...(await turnOf(run, { session, invocation }, collected)), ...told };
  const next = await turnAfter(run, await afterwards, limits);
  return { ...next, ...told };
}

/** The events of the run that a message starts, until it needs a person or ends. */
export async function* eventsAfter(
  run: RunContext,
  submission: Submission,
  options: RunLimits & { readonly streaming?: boolean },
): AsyncGenerator<RunEvent> {
  if (submission.run === undefined) {
    if (submission.refused.length > 0) throw refusedError(submission.refused);
    return;
  }
  const { sessionKey: session } = submission;
  const { invocation } = submission.run;
  for (const refused of submission.refused) yield refusedEvent(run, invocation, refused);
  for (const open of submission.open ?? []) yield openEvent(run, invocation, open);
  const release = limitRun(run, { session, invocation }, options);
  try {
    yield* watchRun(run, { session, ...submission.run, pieces: options.streaming ?? false });
  } finally {
    release();
  }
  if (submission.afterwards === undefined) return;
  yield* eventsAfter(run, await submission.afterwards, options);
}

/** The turn of what was stored in a run. */
export async function turnOf(
  run: RunContext,
  { session: key, invocation }: { readonly session: string; readonly invocation: string },
  collected: Collected,
): Promise<Turn> {
  const { session, open } = await restOf(run, key, collected);
  const by = toPrincipal({ id: session.user });
  const pending = open.toSorted(byAsking).map((item) => toConfirmation(item, by));
  const turn = toTurn(session, invocation, { ...collected, pending });
  if (turn.error !== undefined && turn.error.code !== CANCELLED) warnOfFailure(turn.session, turn.error);
  return turn;
}

// Stopping a run is the caller's own doing.
const CANCELLED = "cancelled";

// A program that only prints `turn.text` would print nothing and end as if all were well.
function warnOfFailure(session: string, { code, message }: NonNullable<Turn["error"]>): void {
  process.emitWarning(`The run in session ${session} failed: ${message}`, {
    type: "CountersignWarning",
    code,
    detail: '`turn.status` is "failed", and `turn.error` says why.',
  });
}

type OpenQuestion = Pick<ConfirmationWithCall, "confirmation" | "call" | "session">;

/** The session and its open questions: as the run left them, if known, else as they are now. */
async function restOf(
  { engine: { ledger } }: RunContext,
  key: string,
  { rest }: Collected,
): Promise<{
  readonly session: Pick<SessionRecord, "id" | "user">;
  readonly open: readonly OpenQuestion[];
}> {
  if (rest !== undefined) {
    const { session, asked } = rest;
    return { session, open: asked.map((one) => ({ ...one, session })) };
  }
  const session = (await ledger.load({ sessionKey: key }))?.session ?? { id: "", user: "", open: 0 };
  if (session.open === 0) return { session, open: [] };
  const { items } = await ledger.confirmations({ state: "open", session: key }, { limit: session.open });
  return { session, open: items };
}

// Questions of one turn have the same time; they are listed in the order of its calls.
function byAsking(one: OpenQuestion, other: OpenQuestion): number {
  return one.confirmation.requestedAt - other.confirmation.requestedAt || one.call.ord - other.call.ord;
}

function openEvent(run: RunContext, invocationId: string, { confirmation, message }: OpenAnswer): RunEvent {
  const author = run.agents.root.name;
  const content = { role: "model", parts: [{ text: message }] };
  const event = { id: run.newId(), timestamp: run.now(), author, invocationId, content };
  return { kind: "open", event: { ...event, customMetadata: { confirmation } } };
}

function refusedEvent(
  run: RunContext,
  invocationId: string,
  { code, message, confirmation }: RefusedAnswer,
): RunEvent {
  const author = run.agents.root.name;
  const error = {
    errorCode: code,
    errorMessage: message,
    ...(confirmation === undefined ? {} : { customMetadata: { confirmation } }),
  };
  return {
    kind: "refused",
    event: { id: run.newId(), timestamp: run.now(), author, invocationId, ...error },
  };
}
