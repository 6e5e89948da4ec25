import { type Call, type DecisionInput, describeProgress, type Engine, isAnswered } from "../engine/index.ts";
import type { Runner } from "../index.ts";
import { actingHere } from "./acting-here.ts";
import type { LoadedAgent } from "./agents/load-agents.ts";
import type { Invocation } from "./command.ts";
import { printValue, statusOf, statusText } from "./display/card.ts";
import { absoluteTime } from "./duration.ts";
import { EXIT } from "./exit-codes.ts";
import { type FoundConfirmation, findToDecide, shortId } from "./find-confirmation.ts";
import { inert, type Output } from "./output.ts";
import { reload, toError, toJson } from "./report.ts";
import { withEngine } from "./wiring.ts";

const ADVICE: { readonly [code: string]: string } = {
  "payload-mismatch": "Use --payload JSON. `countersign show` prints the schema.",
  "already-decided": "The first decision is final.",
  "stale-version": "`countersign show` prints its current state, and how to decide it.",
  "arguments-altered": "Run `countersign audit verify`.",
};

const MS = 1_000;
const LONGEST_WAIT_S = 86_400;

export const SHOWN_VERSION_FLAG = {
  "shown-version": {
    type: "string",
    value: "N",
    help: "the version that `show` printed (default 1)",
  },
} as const;

/** Decides one confirmation for the local user, and prints the result. */
export async function decideHere(
  invocation: Invocation,
  verdict: Omit<DecisionInput, "id">,
  host?: LoadedAgent,
): Promise<number> {
  const [given = ""] = invocation.words;
  // What runs in this process is waited for.
  const waitSeconds = invocation.flags.number("wait", 0) ?? (host && LONGEST_WAIT_S);
  // A question is at its first version unless `show` prints another.
  const shownVersion = invocation.flags.number("shown-version", 1) ?? 1;
  return withEngine(invocation, async (engine) => {
    const found = await findToDecide(engine.ledger, given);
    const runner = host && (await hostHere(engine, host));
    const acting = await actingHere(engine, invocation, { found, what: "decide" });
    const input = { ...verdict, ...argsOf(found, verdict), id: found.confirmation.id, version: shownVersion };
    const decided = await engine.decisions.decide(input, acting);
    if (!decided.ok) throw toError(decided, ADVICE[decided.code]);
    const isOpen = decided.confirmation.status === "requested";
    const ended =
      waitSeconds === undefined || isOpen ? undefined : await endOf(engine, found.call.id, waitSeconds);
    await runner?.close();
    const now = (await reload(engine, { ...found, ...decided })) as FoundConfirmation;
    print(invocation, now, { repeated: decided.repeated, waitSeconds });
    if (waitSeconds === undefined || !verdict.confirmed) return EXIT.ok;
    return ended?.status === "succeeded" ? EXIT.ok : EXIT.failed;
  });
}

/** Loads what runs agents: most decisions are about calls that run elsewhere. */
async function hostHere(engine: Engine, host: LoadedAgent): Promise<Runner> {
  const { hostAgent } = await import("./agents/host-agent.ts");
  return hostAgent(engine, host);
}

/** All arguments of the decision: only those that change were given. */
function argsOf(
  { call }: FoundConfirmation,
  { args }: Pick<DecisionInput, "args">,
): Pick<DecisionInput, "args"> {
  return args === undefined ? {} : { args: { ...call.args, ...args } };
}

function print(
  invocation: Invocation,
  now: FoundConfirmation,
  { repeated, waitSeconds }: { readonly repeated: boolean; readonly waitSeconds: number | undefined },
): void {
  if (invocation.flags.has("json")) invocation.output.json({ ...toJson(now), repeated });
  else tell(invocation, now, { repeated, ...(waitSeconds === undefined ? {} : { waitSeconds }) });
}

/** The call once it has ended, here or elsewhere; undefined if it has not ended after this time. */
async function endOf(engine: Engine, callId: string, seconds: number): Promise<Call | undefined> {
  const { promise: timeout, resolve } = Promise.withResolvers<undefined>();
  // The ledger's own timers do not keep a process alive; this one does.
  const timer = setTimeout(resolve, Math.min(seconds * MS, 2 ** 31 - 1), undefined);
  try {
    return await Promise.race([engine.finished(callId), timeout]);
  } finally {
    clearTimeout(timer);
  }
}

function tell(
  { output }: Invocation,
  found: FoundConfirmation,
  { repeated, waitSeconds }: { readonly repeated: boolean; readonly waitSeconds?: number },
): void {
  const { confirmation, call } = found;
  if (confirmation.status === "requested") return tellOpen(output, found, repeated);
  const vote = confirmation.votes.at(-1);
  if (vote === undefined) return;
  const verdict = vote.confirmed ? "Approved" : "Denied";
  const subject = `${inert(call.tool)} (${shortId(confirmation.id)})`;
  const who = inert(vote.by.id);
  if (repeated) output.prose(`${verdict} already, by ${who} at ${absoluteTime(vote.at)}: ${subject}.`);
  else
    output.line(`${output.style(["bold", vote.confirmed ? "green" : "red"], verdict)} ${subject} as ${who}.`);
  if (!vote.confirmed) output.line("It will not run.");
  else if (isAnswered(call.status) || call.status === "unknown") tellEnd(output, found);
  else tellWhere(output, found, waitSeconds);
}

function tellOpen(output: Output, { confirmation, call }: FoundConfirmation, repeated: boolean): void {
  const subject = `${inert(call.tool)} (${shortId(confirmation.id)})`;
  output.line(`${repeated ? "You had already voted on" : "Your vote is recorded:"} ${subject}.`);
  output.prose(`It needs more votes. So far: ${inert(describeProgress(confirmation))}.`);
}

function tellEnd(output: Output, found: FoundConfirmation): void {
  output.line(`The call: ${statusText(output, statusOf(found))}.`);
  if (found.call.result !== undefined) printValue(output, "result", found.call.result);
}

function tellWhere(output: Output, found: FoundConfirmation, waitSeconds: number | undefined): void {
  const place = `It runs where ${inert(found.call.app)} is hosted`;
  if (waitSeconds === undefined) output.prose(`${place}. Use --wait SECONDS to wait for its result.`);
  else output.prose(`${place}. It has not ended after ${waitSeconds} s (${statusOf(found)}).`);
}
