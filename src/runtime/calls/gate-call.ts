import type { AskOptions, ParseOutcome, Question, Shown } from "../../engine/index.ts";
import type { JsonObject } from "../../protocol/index.ts";
import type { RunContext } from "../run-context.ts";
import type { AuthorGate, GateContext, Tool } from "../tools/index.ts";
import { verdictOf } from "./policy.ts";
import { type Ruling, strictest, type Verdict } from "./verdict.ts";

type Parsed = Extract<ParseOutcome<unknown>, { ok: true }>;

/** A call whose arguments have been parsed, on its way to the gate. */
export interface GatedCall {
  readonly tool: Tool;
  readonly parsed: Parsed;
  readonly where: GateContext;
}

const AUTHOR_REASONS = {
  tool: "the tool requires confirmation",
  toolset: "its toolset requires confirmation",
  manifest: "the manifest requires approval",
  mcp: "the policy for its MCP server requires confirmation",
} as const;

/** What every source says of this call, none left out. */
export async function verdictsOn(run: RunContext, call: GatedCall): Promise<readonly Verdict[]> {
  const authors = (await gatesOf(call)).map(
    (source): Verdict => ({ source, outcome: "confirm", why: AUTHOR_REASONS[source] }),
  );
  return [...authors, ...policyVerdict(run, call)];
}

async function gatesOf({ tool, parsed, where }: GatedCall): Promise<readonly AuthorGate[]> {
  try {
    return await tool.gates(parsed.value, where);
  } catch {
    return ["tool"];
  }
}

function policyVerdict(run: RunContext, { tool, parsed, where }: GatedCall): readonly Verdict[] {
  const { agentName: agent, userId: user } = where;
  const about = { app: run.app, agent, tool: tool.name, args: parsed.args, user };
  const verdict = verdictOf(run.policy, about, "confirm");
  if (verdict === undefined) return [];
  const { outcome, reason: why, approvers } = verdict;
  return [{ source: "policy", outcome, why, ...(approvers === undefined ? {} : { approvers }) }];
}

/** What a card says besides what its tool says of itself. */
export interface CardNotes extends AskOptions {
  readonly why: readonly string[];
  readonly authorOnly?: boolean;
}

/** The card for this call. */
export function shownFor(tool: Tool, args: unknown, notes: CardNotes): Shown {
  const { confirmation, source, parameters } = tool;
  const { amendable, payloadSchema, layout } = confirmation;
  // Whoever else asks, the payload goes to the tool.
  const schema = payloadSchema ?? notes.schema;
  return {
    hint: notes.hint ?? hintOf(tool, args),
    why: notes.why,
    ...(notes.authorOnly === true ? { authorOnly: true } : {}),
    ...(notes.payload === undefined ? {} : { payload: notes.payload }),
    ...(schema === undefined ? {} : { schema }),
    ...(amendable === undefined ? {} : { amendable }),
    ...(amendable === undefined || parameters === undefined ? {} : { argsSchema: parameters }),
    ...(layout === undefined ? {} : { layout }),
    ...(source === undefined ? {} : { source }),
  };
}

// The words are for display; an author's function that fails at them must not keep the question from people.
function hintOf({ name, confirmation }: Tool, args: unknown): string {
  const fallback = `Approve execution of tool ${name}?`;
  try {
    return confirmation.hint(args) ?? fallback;
  } catch {
    return fallback;
  }
}

/** The question that a ruling of `confirm` puts. */
export function questionOf(
  { tool, parsed }: GatedCall,
  ruling: Ruling,
  { requesters, card }: { readonly requesters: readonly string[]; readonly card: AskOptions },
): Question {
  const { expiresInMs, approvers } = tool.confirmation;
  const { why, authorOnly } = ruling;
  return {
    shown: shownFor(tool, parsed.value, { ...card, why, authorOnly }),
    approvers: strictest(approvers, ruling.approvers),
    requesters,
    ...(expiresInMs === undefined ? {} : { expiresInMs }),
  };
}

/** What the model is told of a call that a rule forbids. */
export function forbiddenAnswer(why: readonly string[]): JsonObject {
  return { error: "tool call was denied by policy", reason: why.join("; ") };
}
