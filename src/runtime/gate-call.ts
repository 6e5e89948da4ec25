import type { ParseOutcome, Question, Shown } from "../engine/index.ts";
import type { JsonObject } from "../protocol/index.ts";
import type { RunContext } from "./run-context.ts";
import type { GateContext, Tool } from "./tool.ts";
import type { Ruling, Verdict } from "./verdict.ts";

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
export async function verdictsOn(
  run: RunContext,
  { tool, parsed, where }: GatedCall,
): Promise<readonly Verdict[]> {
  const gates = await tool.gates(parsed.value, where);
  const authors = gates.map(
    (source): Verdict => ({ source, outcome: "confirm", why: AUTHOR_REASONS[source] }),
  );
  return [...authors, ...policyVerdict(run, { tool, parsed, where })];
}

function policyVerdict(run: RunContext, { tool, parsed, where }: GatedCall): readonly Verdict[] {
  if (run.policy === undefined) return [];
  const { app, policy } = run;
  try {
    const verdict = policy({
      app,
      agent: where.agentName,
      tool: tool.name,
      args: parsed.args,
      user: where.userId,
    });
    if (verdict === undefined) return [];
    const { outcome, reason: why, approvers } = verdict;
    return [{ source: "policy", outcome, why, ...(approvers === undefined ? {} : { approvers }) }];
  } catch {
    return [{ source: "policy", outcome: "confirm", why: "a policy rule failed" }];
  }
}

/** The card for this call. */
export function shownFor(
  tool: Tool,
  args: unknown,
  about: { readonly why: readonly string[]; readonly hint?: string; readonly payload?: Shown["payload"] },
): Shown {
  const { confirmation, source, parameters } = tool;
  const { amendable, payloadSchema } = confirmation;
  return {
    hint: about.hint ?? confirmation.hint(args) ?? defaultHint(tool.name),
    why: about.why,
    ...(about.payload === undefined ? {} : { payload: about.payload }),
    ...(payloadSchema === undefined ? {} : { schema: payloadSchema }),
    ...(amendable === undefined ? {} : { amendable }),
    ...(amendable === undefined || parameters === undefined ? {} : { argsSchema: parameters }),
    ...(source === undefined ? {} : { source }),
  };
}

export function defaultHint(toolName: string): string {
  return `Approve execution of tool ${toolName}?`;
}

/** The question that a ruling of `confirm` puts. */
export function questionOf(
  { tool, parsed }: GatedCall,
  ruling: Ruling,
  about: {
    readonly requesters: readonly string[];
    readonly hint?: string;
    readonly payload?: Shown["payload"];
  },
): Question {
  const { expiresInMs, approvers } = tool.confirmation;
  const { requesters, ...card } = about;
  return {
    shown: shownFor(tool, parsed.value, { ...card, why: ruling.why }),
    approvers: ruling.approvers ?? approvers,
    requesters,
    ...(expiresInMs === undefined ? {} : { expiresInMs }),
  };
}

/** What the model is told of a call that a rule forbids. */
export function forbiddenAnswer(why: readonly string[]): JsonObject {
  return { error: "tool call was denied by policy", reason: why.join("; ") };
}
