import {
  type CallContext,
  CallEnd,
  type CallRecord,
  ConfirmationRejected,
  type Delegation,
  OutcomeUnknown,
  restoreArguments,
} from "../../engine/index.ts";
import { type JsonValue, member } from "../../protocol/index.ts";
import { type Agent, type AnyAgent, firstValue, notesFrom, TRANSFER_TOOL } from "../agents/index.ts";
import { isolatedBranch } from "../history/index.ts";
import type { RunContext } from "../run-context.ts";
import { isAgentTool, State, type Tool, type ToolActions, type ToolContext } from "../tools/index.ts";

/** A call of a tool of an agent. */
export interface ToolCall {
  readonly agent: Agent;
  readonly tool: Tool;
  readonly call: CallRecord;
}

/** Runs a tool's function with its state and hooks, or delegates the work if the tool is an agent. */
export async function enterTool(run: RunContext, about: ToolCall, context: CallContext): Promise<CallEnd> {
  const { tool, call } = about;
  if (isAgentTool(tool)) return new CallEnd({ delegation: delegationOf(tool.delegate, call) });
  const entry: Entry = {
    context,
    state: new State(await run.engine.ledger.state(call.session), run.engine.settings.maxStateBytes),
    actions: {},
    asked: false,
  };
  const result = await runBody(run, about, entry);
  const target = call.tool === TRANSFER_TOOL ? member(call.args, "agent_name") : undefined;
  if (typeof target === "string") entry.actions.transferToAgent = target;
  const cursor = notesFrom(entry.actions);
  return new CallEnd({
    result,
    stateDelta: entry.state.delta(),
    ...(cursor === undefined ? {} : { cursor }),
  });
}

/** One run of a tool's function. */
interface Entry {
  readonly context: CallContext;
  readonly state: State;
  readonly actions: ToolActions;
  /** The tool asked for a confirmation, so its return value is discarded. */
  asked: boolean;
}

async function runBody(run: RunContext, { agent, tool, call }: ToolCall, entry: Entry): Promise<JsonValue> {
  const hooks = [run.hooks, agent.hooks];
  const { args } = call;
  const bare = toToolContext(run, { agent, tool, call }, entry);
  let ctx = bare;
  try {
    const restored = restoreArguments(tool, call);
    const input: unknown = restored instanceof Promise ? await restored : restored;
    if (tool.credentials !== undefined) ctx = { ...bare, credentials: await tool.credentials(input, bare) };
    // Tools may return anything; the engine stores the JSON part.
    const result = ((await tool.run(input, ctx)) ?? null) as JsonValue;
    if (entry.asked) return null;
    return (await firstValue(hooks, "afterTool", { tool, args, result, ctx })) ?? result;
  } catch (error) {
    // `onToolError` must not handle these: one is a person's decision, the other an unknown outcome.
    if (error instanceof ConfirmationRejected || error instanceof OutcomeUnknown) throw error;
    const replaced = await firstValue(hooks, "onToolError", { tool, args, error, ctx });
    if (replaced === undefined) throw error;
    return replaced;
  }
}

function delegationOf(delegate: AnyAgent, call: CallRecord): Delegation {
  const request = member(call.args, "request");
  return {
    kind: delegate.kind,
    agent: delegate.name,
    branch: isolatedBranch(call.wireId),
    message: typeof request === "string" ? request : JSON.stringify(call.args),
  };
}

function toToolContext(run: RunContext, { agent, call }: ToolCall, entry: Entry): ToolContext {
  const { context, state, actions } = entry;
  const { invocation = call.id } = context;
  const stop = run.cancellation.signalOf(invocation);
  const requestHeaders = run.requestHeaders.of(invocation);
  return {
    ...context,
    ...(stop === undefined ? {} : stoppedBy(stop, context)),
    ...(requestHeaders === undefined ? {} : { requestHeaders }),
    requestConfirmation: (options) => {
      context.requestConfirmation(options);
      entry.asked = true;
    },
    credentials: undefined,
    agentName: agent.name,
    userId: context.session.user,
    sessionId: context.session.id,
    invocationId: invocation,
    functionCallId: call.wireId,
    state,
    actions,
    progress: (update) =>
      run.feed.publish({
        kind: "progress",
        session: call.session,
        invocation,
        callId: call.wireId,
        tool: call.tool,
        update,
      }),
  };
}

/** What also ends when the run is stopped. */
function stoppedBy(stop: AbortSignal, context: CallContext): Pick<CallContext, "signal" | "step"> {
  const signal = AbortSignal.any([context.signal, stop]);
  return {
    signal,
    step: (name, fn, options) => context.step(name, (step) => fn({ ...step, signal }), options),
  };
}
