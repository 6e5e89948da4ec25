import {
  type Amendment,
  type CallContext,
  CallEnd,
  type CallRecord,
  ConfirmationRejected,
  type Delegation,
  definitionDigest,
  type LiveTool,
  type Shown,
} from "../engine/index.ts";
import { CountersignError, type JsonObject, type JsonValue, member } from "../protocol/index.ts";
import type { Agent, AnyAgent } from "./agent.ts";
import { isAgentTool } from "./agent-tool.ts";
import { TRANSFER_TOOL } from "./agent-tools.ts";
import { shownFor, verdictsOn } from "./gate-call.ts";
import { ISOLATED } from "./history.ts";
import { firstValue } from "./hooks.ts";
import type { RunContext } from "./run-context.ts";
import { State } from "./state.ts";
import type { Tool } from "./tool.ts";
import type { ToolContext } from "./tool-context.ts";
import { rule } from "./verdict.ts";

/** A tool of an agent as the engine runs it: with the app's rules, hooks and state around its body. */
export function toLiveTool(run: RunContext, agent: Agent, tool: Tool): LiveTool {
  const { approvers, expiresInMs } = tool.confirmation;
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
    denies: (call, confirmation) => deniesNow(run, call, confirmation?.user),
    showAgain: (call) => showAgain(tool, call),
    amend: (call, { args, user }) => amend(run, { agent, tool, call }, { args, user }),
    run: (call, context) => enter(run, { agent, tool, call }, context),
  };
}

interface ToolCall {
  readonly agent: Agent;
  readonly tool: Tool;
  readonly call: CallRecord;
}

function deniesNow(run: RunContext, call: CallRecord, user = ""): string | undefined {
  const { app, agent, tool, args } = call;
  try {
    const verdict = run.policy?.({ app, agent, tool, args, user });
    return verdict?.outcome === "deny" ? verdict.reason : undefined;
  } catch {
    return "a policy rule failed";
  }
}

function showAgain(tool: Tool, call: CallRecord): Shown | undefined {
  return call.unparsed
    ? undefined
    : shownFor(tool, call.args, { why: ["the tool changed since it was asked about"] });
}

async function amend(
  run: RunContext,
  { agent, tool, call }: ToolCall,
  { args, user }: { readonly args: JsonObject; readonly user: string },
): Promise<Amendment> {
  const parsed = await tool.parse(args);
  if (!parsed.ok)
    return { ok: false, code: "arguments-mismatch", field: parsed.field, message: parsed.message };
  const where = { agentName: agent.name, userId: user, sessionId: call.session };
  const ruling = rule(await verdictsOn(run, { tool, parsed, where }));
  if (ruling.outcome === "deny") return { ok: false, code: "policy-denied", message: ruling.why.join("; ") };
  return { ok: true, args: parsed.args, approvers: ruling.approvers ?? tool.confirmation.approvers };
}

async function enter(run: RunContext, about: ToolCall, context: CallContext): Promise<JsonValue | CallEnd> {
  const { tool, call } = about;
  const state = new State(await run.engine.ledger.state(call.session));
  const ctx = toToolContext(run, about, { context, state });
  if (isAgentTool(tool)) return new CallEnd({ delegation: delegationOf(tool.delegate, call) });
  const result = await runBody(run, about, ctx);
  const target = call.tool === TRANSFER_TOOL ? member(call.args, "agent_name") : undefined;
  return new CallEnd({
    result,
    stateDelta: state.delta(),
    ...(typeof target === "string" ? { cursor: { transferTo: target } } : {}),
  });
}

async function runBody(
  run: RunContext,
  { agent, tool, call }: ToolCall,
  ctx: ToolContext,
): Promise<JsonValue> {
  const hooks = [run.hooks, agent.hooks];
  const { args } = call;
  try {
    // What tools return is theirs; the engine keeps what of it is JSON.
    const result = ((await tool.run(await restore(tool, call), ctx)) ?? null) as JsonValue;
    return (await firstValue(hooks, "afterTool", { tool, args, result, ctx })) ?? result;
  } catch (error) {
    if (error instanceof ConfirmationRejected) throw error;
    const replaced = await firstValue(hooks, "onToolError", { tool, args, error, ctx });
    if (replaced === undefined) throw error;
    return replaced;
  }
}

// What was shown is what runs: JSON is not parsed again, or a default could change under an approval.
async function restore(tool: Tool, call: CallRecord): Promise<unknown> {
  if (!call.unparsed) return call.args;
  const parsed = await tool.parse(call.args);
  if (parsed.ok) return parsed.value;
  throw new CountersignError("arguments-mismatch", `The stored arguments no longer parse: ${parsed.message}`);
}

function delegationOf(delegate: AnyAgent, call: CallRecord): Delegation {
  const request = member(call.args, "request");
  return {
    kind: delegate.kind,
    agent: delegate.name,
    branch: `${ISOLATED}${call.wireId}`,
    message: typeof request === "string" ? request : JSON.stringify(call.args),
  };
}

function toToolContext(
  run: RunContext,
  { agent, call }: ToolCall,
  { context, state }: { readonly context: CallContext; readonly state: State },
): ToolContext {
  return {
    ...context,
    agentName: agent.name,
    userId: context.session.user,
    sessionId: context.session.id,
    invocationId: call.frame ?? call.id,
    functionCallId: call.wireId,
    state,
    // Whatever is stored by now came before it.
    progress: (update) =>
      run.feed.publish({
        kind: "progress",
        session: call.session,
        after: 0,
        callId: call.wireId,
        tool: call.tool,
        update,
      }),
  };
}
