import { type Amendment, type CallRecord, definitionDigest, type LiveTool } from "../../engine/index.ts";
import type { JsonObject } from "../../protocol/index.ts";
import type { Agent } from "../agents/index.ts";
import type { RunContext } from "../run-context.ts";
import type { Tool } from "../tools/index.ts";
import { enterTool, type ToolCall } from "./enter-tool.ts";
import { shownFor } from "./gate-call.ts";
import { asksForMore, judgeAgain } from "./judge-again.ts";
import { verdictOf } from "./policy.ts";
import { strictest } from "./verdict.ts";

/** A tool of an agent as the engine runs it: with the app's rules, hooks and state around its body. */
export function toLiveTool(run: RunContext, agent: Agent, tool: Tool): LiveTool {
  const { approvers, expiresInMs, readPayload } = tool.confirmation;
  // Where a provider answers, a tool that asked is told of a rejection by an error it can catch.
  const onDenied =
    tool.confirmation.onDenied ?? (agent.confirmationProvider === undefined ? undefined : "invoke");
  return {
    definitionDigest: definitionDigest(tool.definition),
    asking: {
      approvers,
      ...(expiresInMs === undefined ? {} : { expiresInMs }),
      ...(onDenied === undefined ? {} : { onDenied }),
    },
    denies: (call, user) => deniesNow(run, call, user),
    ...(readPayload === undefined ? {} : { readPayload }),
    amend: (call, { args }) => amend(run, { agent, tool, call }, args),
    run: (call, context) => enterTool(run, { agent, tool, call }, context),
  };
}

/**
 * The tool that a stored call names, as it is now. If it is not the one that was shown, it says how it would
 * be shown now, and to whom, provided that it takes the arguments as they are and no rule forbids it.
 */
export async function toLiveToolFor(run: RunContext, about: ToolCall): Promise<LiveTool> {
  const { agent, tool, call } = about;
  const live = toLiveTool(run, agent, tool);
  if (live.definitionDigest === call.definitionDigest || call.unparsed) return live;
  const judged = await judgeAgain(run, about, call.args);
  if (!judged.ok || judged.ruling.outcome === "deny") return live;
  const changes = await run.definitions.differenceSince(call.definitionDigest, tool.definition);
  await run.definitions.keep(tool.definition);
  const why = [toldChange(changes), ...judged.ruling.why];
  return {
    ...live,
    asking: { ...live.asking, approvers: strictest(live.asking.approvers, judged.ruling.approvers) },
    showAgain: () => shownFor(tool, call.args, { ...judged.card, why }),
  };
}

function toldChange(changes: readonly string[] = []): string {
  const what = changes.length === 0 ? "" : `: ${changes.join("; ")}`;
  return `the tool changed since it was asked about${what}`;
}

/** A deny rule that holds for this call now, if there is one. */
export function deniesNow(run: RunContext, call: CallRecord, user: string): string | undefined {
  const { app, agent, tool, args } = call;
  const verdict = verdictOf(run.policy, { app, agent, tool, args, user }, "deny");
  return verdict?.outcome === "deny" ? verdict.reason : undefined;
}

const MORE_ASKED = "With these arguments a beforeTool hook asks for a payload that nobody was asked for.";

async function amend(run: RunContext, about: ToolCall, args: JsonObject): Promise<Amendment> {
  const judged = await judgeAgain(run, about, args);
  if (!judged.ok) return judged;
  if (asksForMore(judged)) return { ok: false, code: "arguments-mismatch", message: MORE_ASKED };
  const { outcome, why } = judged.ruling;
  const approvers = strictest(about.tool.confirmation.approvers, judged.ruling.approvers);
  if (outcome === "deny") return { ok: false, code: "policy-denied", message: why.join("; ") };
  return { ok: true, args: judged.args, approvers };
}
