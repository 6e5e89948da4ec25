import {
  type ConfirmationRecord,
  type Engine,
  type JournalRecord,
  shownStatus,
  type Verification,
} from "../../engine/index.ts";
import type { JsonObject } from "../../protocol/index.ts";
import { printCard } from "../card.ts";
import type { Invocation } from "../command.ts";
import { printVerification } from "../commands/audit-verify.ts";
import { EXIT } from "../exit-codes.ts";
import { type FoundCall, shortId } from "../find-confirmation.ts";
import { printRecord } from "../journal-line.ts";
import { inert, type Output } from "../output.ts";
import { commandLineFor, localPrincipal } from "../wiring.ts";
import { type Answer, askHere } from "./ask-here.ts";
import { defineReimburse, LIMIT, type Reimbursing } from "./reimburse.ts";

/** What the demo came to, for programs and tests. */
export interface DemoEnd {
  readonly code: number;
  readonly summary: JsonObject;
}

export interface DemoOptions {
  readonly url: string;
  readonly newKey: () => string;
}

interface Stage extends DemoOptions, Reimbursing {
  readonly engine: Engine;
  readonly invocation: Invocation;
  readonly output: Output;
}

const SMALL = 45;
const LARGE = 2_500;
const REFUSED = 9_000;
const INTERRUPTED = 130;
const AT_ONCE = 5;
const ALIVE_MS = 60_000;
const DOOR = "demo";
const REASON = "the demo's second answer is no";

/** Plays the demo: with a person where there is one, else both answers by itself. */
export async function playDemo(
  engine: Engine,
  invocation: Invocation,
  options: DemoOptions,
): Promise<DemoEnd> {
  const { output, stdin } = invocation;
  const stage: Stage = { ...options, ...defineReimburse(engine), engine, invocation, output };
  // Runs what is decided in a second terminal, and expires what nobody decides.
  const worker = engine.work();
  // The engine's own timers do not: somebody who waits for a decision made elsewhere must.
  const alive = setInterval(() => {}, ALIVE_MS);
  try {
    output.prose(
      `reimburse() pays up to $${LIMIT} by itself; above that it waits for a person, and then runs once.`,
    );
    output.line(output.style("dim", `Ledger: ${inert(options.url)}`));
    await paySmall(stage);
    const person = stdin.isTTY && output.isTerminal;
    return person ? await playWithPerson(stage) : await playAlone(stage);
  } finally {
    clearInterval(alive);
    await worker.stop();
  }
}

async function paySmall({ reimburse, newKey, output }: Stage): Promise<void> {
  const outcome = await reimburse({ amount: SMALL }, { key: newKey(), by: localPrincipal() });
  heading(output, `reimburse({ amount: ${SMALL} })`);
  output.line(`Runs at once: ${outcome.status}.`);
}

async function playWithPerson(stage: Stage): Promise<DemoEnd> {
  const { engine, output, invocation } = stage;
  const asked = await ask(stage, LARGE);
  const line = commandLineFor(invocation, stage.url);
  output.line();
  output.prose("Answer here, or from a second terminal in this folder:");
  output.line(line("pending"));
  output.line(line(`approve ${shortId(asked.confirmation.id)}`));
  output.line();
  const answer = await askHere(engine.ledger, asked.confirmation.id, invocation.stdin);
  if (answer === "left" || answer === "interrupted") return leave(stage, asked, answer);
  if (answer === "decided-elsewhere") output.line("\nDecided elsewhere.");
  else await decide(stage, asked, answer === "approve");
  await showOutcome(stage, asked);
  await showRepeats(stage, asked);
  return end(stage, [asked]);
}

async function playAlone(stage: Stage): Promise<DemoEnd> {
  const { output } = stage;
  const first = await ask(stage, LARGE);
  output.line();
  output.line("No terminal to ask in: this run plays both answers.");
  await decide(stage, first, true);
  await showOutcome(stage, first);
  await showRepeats(stage, first);
  const second = await ask(stage, REFUSED);
  output.line();
  await decide(stage, second, false);
  await showOutcome(stage, second);
  return end(stage, [first, second]);
}

type Asked = FoundCall & { readonly confirmation: ConfirmationRecord };

/** Opens a call that must wait, or finds the one that an earlier run left waiting. */
async function ask({ engine, reimburse, newKey, output }: Stage, amount: number): Promise<Asked> {
  const { items } = await engine.ledger.confirmations({ state: "open", app: "gate:reimburse" }, { limit: 1 });
  let id = items[0]?.confirmation.id;
  if (id === undefined) {
    heading(output, `reimburse({ amount: ${amount} })`);
    const outcome = await reimburse({ amount }, { key: newKey(), by: localPrincipal() });
    if (outcome.status !== "pending") throw new Error(`The call should wait and is ${outcome.status}.`);
    id = outcome.confirmation.id;
    output.line("Waits: committed to the ledger, and nothing of it has run.");
  } else {
    heading(output, "Still waiting from an earlier run");
  }
  const found = await engine.ledger.load({ confirmation: id });
  if (found?.call === undefined || found.confirmation === undefined) throw new Error(`${id} is gone.`);
  const asked = { ...found, call: found.call, confirmation: found.confirmation };
  output.line();
  printCard(output, asked);
  return asked;
}

async function decide({ engine, output }: Stage, { confirmation }: Asked, confirmed: boolean): Promise<void> {
  const by = localPrincipal();
  const decided = await engine.decide(
    { id: confirmation.id, confirmed, ...(confirmed ? {} : { reason: REASON }) },
    { by, via: DOOR },
  );
  if (!decided.ok) {
    output.line(`Refused: ${inert(decided.message)} [${decided.code}]`);
    return;
  }
  output.line(`${confirmed ? "Approved" : "Denied"} by ${inert(by.id)}.`);
  await decided.finished;
}

async function showOutcome({ engine, output, runsOf }: Stage, { call, session }: Asked): Promise<void> {
  const ended = await engine.finished(call.id);
  const result = ended.result === undefined ? "" : ` ${inert(JSON.stringify(ended.result))}`;
  output.prose(`The call: ${ended.status}${result}`);
  output.line(`Times the function was entered: ${output.style("bold", String(runsOf(session.id)))}`);
}

/** The same decision again, at the same moment, and then the opposite one. */
async function showRepeats(
  { engine, output, runsOf }: Stage,
  { confirmation, session }: Asked,
): Promise<void> {
  const snapshot = await engine.ledger.load({ confirmation: confirmation.id });
  const verdict = snapshot?.confirmation?.votes.at(-1)?.confirmed;
  if (verdict === undefined) return;
  const acting = { by: localPrincipal(), via: DOOR };
  heading(output, `The same decision again, ${AT_ONCE} times at once`);
  const again = await Promise.all(
    Array.from({ length: AT_ONCE }, () => engine.decide({ id: confirmation.id, confirmed: verdict }, acting)),
  );
  const repeated = again.filter((receipt) => receipt.ok && receipt.repeated).length;
  output.line(`${repeated} of ${AT_ONCE} got the decision that stands.`);
  output.line(`Times the function was entered: ${output.style("bold", String(runsOf(session.id)))}`);
  const opposite = await engine.decide({ id: confirmation.id, confirmed: !verdict }, acting);
  if (!opposite.ok) output.prose(`The opposite: refused. ${inert(opposite.message)} [${opposite.code}]`);
}

async function end(stage: Stage, asked: readonly Asked[]): Promise<DemoEnd> {
  const { engine, output, invocation } = stage;
  heading(output, "The journal of this");
  for (const { session } of asked) {
    for (const record of await chainOf(engine, session.key)) printRecord(output, record);
  }
  await engine.seal();
  const verification = await engine.verify();
  output.line();
  printVerification(invocation, verification);
  output.line();
  output.prose("Next: the README begins with this in code, and `help` lists the commands.");
  return {
    code: verification.ok ? EXIT.ok : EXIT.failed,
    summary: await summarise(stage, asked, verification),
  };
}

async function leave(stage: Stage, asked: Asked, how: Answer): Promise<DemoEnd> {
  const { output, invocation } = stage;
  const line = commandLineFor(invocation, stage.url);
  output.line();
  output.prose(
    "Left. Nothing is lost: it still waits, in the ledger. Start the demo again, or decide it with",
  );
  output.line(line(`approve ${shortId(asked.confirmation.id)}`));
  output.line(line(`deny ${shortId(asked.confirmation.id)}`));
  return { code: how === "interrupted" ? INTERRUPTED : EXIT.ok, summary: { waiting: asked.confirmation.id } };
}

async function chainOf(engine: Engine, stream: string): Promise<readonly JournalRecord[]> {
  return engine.ledger.chain(stream, { after: 0, limit: 50 });
}

async function summarise(
  { engine, runsOf }: Stage,
  asked: readonly Asked[],
  { ok, records }: Verification,
): Promise<JsonObject> {
  const calls: JsonObject[] = [];
  for (const { confirmation, session } of asked) {
    const now = await engine.ledger.load({ confirmation: confirmation.id });
    if (now?.call === undefined || now.confirmation === undefined) continue;
    calls.push({
      id: confirmation.id,
      args: now.call.args,
      status: shownStatus(now.confirmation.status, now.call.status),
      runs: runsOf(session.id),
    });
  }
  return { calls, verified: ok, records };
}

function heading(output: Output, text: string): void {
  output.line();
  output.line(output.style("bold", text));
}
