import type { Decision, DecisionEntry } from "countersign/client";
import { ask, client, type Problem } from "../../../api/client.ts";
import { newKey } from "../../../api/new-key.ts";
import { Store } from "../../../ui/store.ts";
import { tell } from "../../../ui/toasts.tsx";
import { board } from "../../inbox/board.ts";
import { decisionSentence } from "../status-words.ts";

export type OneDecision = Decision & { readonly id: string };

/** A decision that has not been sent yet, or has no answer yet. */
export interface Held {
  /** Also its Idempotency-Key: however often it is sent, it counts once. */
  readonly key: string;
  readonly decisions: readonly OneDecision[];
  readonly state: "held" | "sending" | "unsent";
  /** When it will be sent, by this machine's clock. */
  readonly sendsAt: number;
}

/** How long a decision can be undone. */
const HOLD_MS = 4000;
const MOST_AT_ONCE = 100;

export const held: Store<readonly Held[]> = new Store<readonly Held[]>([]);
/** Keys of decisions that are shown on their card, so that they are not shown twice. */
export const toldInPlace: Store<ReadonlySet<string>> = new Store<ReadonlySet<string>>(new Set());
const timers = new Map<string, number>();

/** Holds a decision for a moment, then sends it. A second one for the same card is ignored. */
export function hold(decisions: readonly OneDecision[]): void {
  const open = decisions.filter(({ id }) => heldFor(held.value, id) === undefined);
  for (let start = 0; start < open.length; start += MOST_AT_ONCE) {
    const key = newKey();
    const some = open.slice(start, start + MOST_AT_ONCE);
    held.set([...held.value, { key, decisions: some, state: "held", sendsAt: Date.now() + HOLD_MS }]);
    timers.set(
      key,
      window.setTimeout(() => sendNow(key), HOLD_MS),
    );
  }
}

/** Undoes a decision; no effect once it is being sent. */
export function undo(key: string): void {
  if (held.value.find((one) => one.key === key)?.state === "sending") return;
  drop(key);
}

/** Sends at once what is held, or again what did not arrive. */
export function sendNow(key: string): void {
  const one = held.value.find((each) => each.key === key);
  if (one === undefined || one.state === "sending") return;
  window.clearTimeout(timers.get(key));
  replace({ ...one, state: "sending" });
  deliver(one).catch(() => replace({ ...one, state: "unsent" }));
}

export function heldFor(all: readonly Held[], id: string): Held | undefined {
  return all.find(({ decisions }) => decisions.some((decision) => decision.id === id));
}

async function deliver(one: Held): Promise<void> {
  const [first] = one.decisions;
  if (first === undefined) return drop(one.key);
  const sent = one.decisions.length === 1 ? await deliverOne(first, one.key) : await deliverMany(one);
  if (sent) drop(one.key);
  else replace({ ...one, state: "unsent" });
}

async function deliverOne({ id, ...body }: OneDecision, key: string): Promise<boolean> {
  const mark = board.mark();
  const outcome = await ask(client.confirmations.decide(id, body, { idempotencyKey: key }));
  if (outcome.ok) board.put(outcome.value, mark);
  else if (outcome.problem.status === 0) return false;
  else await explain(id, outcome.problem);
  return true;
}

async function deliverMany({ decisions, key }: Held): Promise<boolean> {
  const mark = board.mark();
  const outcome = await ask(client.decideMany(decisions, { idempotencyKey: key }));
  if (!outcome.ok) {
    if (outcome.problem.status === 0) return false;
    tell(`Nothing was decided. ${outcome.problem.detail}`);
    return true;
  }
  for (const result of outcome.value) await takeResult(result, mark);
  return true;
}

async function takeResult(result: DecisionEntry, mark: number): Promise<void> {
  const { id, status, confirmation, problem } = result;
  if (confirmation !== undefined && problem === undefined) board.put(confirmation, mark);
  else await explain(id, { status, detail: problem?.detail ?? "It was refused." });
}

/** Shows why a decision was refused: most often, somebody else was faster. */
async function explain(id: string, problem: Problem): Promise<void> {
  const mark = board.mark();
  const now = await ask(client.confirmations.get(id));
  if (now.ok) board.put(now.value, mark);
  const told = now.ok && now.value.status !== "requested" ? decisionSentence(now.value) : undefined;
  tell(
    told === undefined
      ? `Your decision was not saved. ${problem.detail}`
      : `Your decision came too late. ${told}.`,
  );
}

/** Undoes every unanswered decision: after a change of login it would be sent as another person. */
export function dropAll(): void {
  for (const { key } of held.value) drop(key);
}

function drop(key: string): void {
  window.clearTimeout(timers.get(key));
  timers.delete(key);
  held.set(held.value.filter((one) => one.key !== key));
}

function replace(one: Held): void {
  held.set(held.value.map((each) => (each.key === one.key ? one : each)));
}

// Leaving now would lose the click; nothing has been decided yet, and the browser says so.
window.addEventListener("beforeunload", (event) => {
  if (held.value.length > 0) event.preventDefault();
});
