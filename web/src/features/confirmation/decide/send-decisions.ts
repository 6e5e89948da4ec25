import type { Decision, DecisionEntry } from "countersign/client";
import { ask, client, type Problem } from "../../../api/client.ts";
import { tell } from "../../../ui/messages.ts";
import { board } from "../../inbox/board.ts";
import { shortSubject } from "../card/headline.ts";
import { decisionSentence } from "../status-words.ts";
import { hold } from "./held.ts";

export type OneDecision = Decision & { readonly id: string };

const MOST_AT_ONCE = 100;

/** Decides these, all of them the same way, after a moment in which that can be undone. */
export function decide(decisions: readonly OneDecision[]): void {
  for (let start = 0; start < decisions.length; start += MOST_AT_ONCE) {
    const some = decisions.slice(start, start + MOST_AT_ONCE);
    hold({
      about: some.map(({ id }) => id),
      verb: some.every(({ confirmed }) => confirmed) ? "Approving" : "Rejecting",
      what: subjectOf(some),
      send: (key, about) =>
        deliver(
          some.filter(({ id }) => about.includes(id)),
          key,
        ),
    });
  }
}

function subjectOf(decisions: readonly OneDecision[]): string {
  const [first] = decisions;
  const confirmation = first === undefined ? undefined : board.value.confirmations.get(first.id);
  if (decisions.length > 1) return `${decisions.length} requests`;
  if (confirmation === undefined) return "a request";
  const { args } = first ?? {};
  return args === undefined
    ? shortSubject(confirmation)
    : `${shortSubject({ ...confirmation, args })}, as changed`;
}

async function deliver(decisions: readonly OneDecision[], key: string): Promise<boolean> {
  const [first] = decisions;
  if (first === undefined) return true;
  return decisions.length === 1 ? deliverOne(first, key) : deliverMany(decisions, key);
}

async function deliverOne({ id, ...body }: OneDecision, key: string): Promise<boolean> {
  const mark = board.mark();
  const outcome = await ask(client.confirmations.decide(id, body, { idempotencyKey: key }));
  if (outcome.ok) board.put(outcome.value, mark);
  else if (outcome.problem.status === 0) return false;
  else await explain(id, outcome.problem);
  return true;
}

async function deliverMany(decisions: readonly OneDecision[], key: string): Promise<boolean> {
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
  const what = now.ok ? `${shortSubject(now.value)}: ` : "";
  const told = now.ok && now.value.status !== "requested" ? decisionSentence(now.value) : undefined;
  tell(
    told === undefined
      ? `${what}your decision was not saved. ${problem.detail}`
      : `${what}your decision came too late. ${told}`,
  );
}
