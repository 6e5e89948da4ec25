import {
  type FunctionTool,
  type RunContext,
  type RunState,
  type RunToolApprovalItem,
  tool as sdkTool,
  type ToolExecuteArgument,
  type ToolInputParameters,
  type ToolOptions,
} from "@openai/agents";
import type { Acting, CallerOutcome, Engine } from "../../engine/index.ts";
import { CountersignError } from "../../protocol/index.ts";
import { type ButtonResult, ThreadGate } from "../thread-gate.ts";
import type { GivenRule, ToolRule } from "../tool-rule.ts";
import { type AnyFunctionTool, type AnyToolOptions, GatedTool } from "./gated-tool.ts";

/** Which conversation a run belongs to, as the program around the agent knows it. */
export interface Conversation {
  /** Your server must have checked that the user may use it. */
  readonly thread: string;
  /** Names the user's message that the run answers. It is stored in the run's state with the context. */
  readonly turn: string;
  /** Whom the agent works for, as your server has authenticated them. */
  readonly user?: string;
}

/** Options of {@link createGate}. */
export interface AgentsGateOptions<Context> {
  readonly engine: Engine;
  /** The app that its calls are listed under. */
  readonly app: string;
  /** Which conversation a run belongs to: read it from the context that you pass to `run`. */
  readonly identify: (context: Context) => Conversation;
}

/** An interruption that somebody answered in a front end of yours. */
export interface AnsweredItem {
  readonly item: RunToolApprovalItem;
  readonly approved: boolean;
  readonly reason?: string;
}

/** Whether the run can go on, or what it still waits for. */
export type Resumption =
  | { readonly ready: true }
  /** Waiting for a decision, or for somebody to settle an unknown outcome. Empty if it waits for nothing of ours. */
  | { readonly ready: false; readonly waiting: readonly CallerOutcome[] };

// The SDK's own bound for "any agent".
type State<Context> = Pick<RunState<Context, never>, "getInterruptions" | "approve" | "reject"> & {
  readonly _context: RunContext<Context>;
};

/** The gate of a program that runs agents of the OpenAI Agents SDK. */
export interface AgentsGate<Context> {
  /** A tool as the SDK's `tool` makes it, behind the gate. */
  tool<Parameters extends ToolInputParameters>(
    options: ToolOptions<Parameters, Context>,
    rule?: GivenRule<ToolExecuteArgument<Parameters>>,
  ): FunctionTool<Context, Parameters>;
  /** Records answers as decisions of this person. Call it only with a person whom your server has authenticated. */
  record(
    state: State<Context>,
    answers: readonly AnsweredItem[],
    acting: Acting,
  ): Promise<readonly ButtonResult[]>;
  /** Puts the ledger's answers into the state, once every question is answered: then run the agent with it. */
  resume(state: State<Context>): Promise<Resumption>;
  /** Withdraws every call of a conversation that has not started: the user moved on. Returns how many. */
  cancel(thread: string, reason: string): Promise<number>;
}

/** Makes the gate. People are asked in the ledger, and an approved call runs at most once. */
export function createGate<Context>({
  engine,
  app,
  identify,
}: AgentsGateOptions<Context>): AgentsGate<Context> {
  const threadOf = (context: Context): { readonly gate: ThreadGate; readonly turn: string } => {
    const { thread, turn, user } = identify(context);
    return { gate: new ThreadGate({ engine, app, thread, ...(user === undefined ? {} : { user }) }), turn };
  };
  const callOf = (
    state: State<Context>,
    item: RunToolApprovalItem,
  ): { readonly gate: ThreadGate; readonly id: string } => {
    const { _context: run } = state;
    const { gate, turn } = threadOf(run.context);
    return { gate, id: callIdIn(turn, item) };
  };
  return {
    tool: (options, rule = true) => {
      // The SDK's options are generic over the schema; here they are only passed on.
      const gated = new GatedTool(options as unknown as AnyToolOptions, {
        rule: (rule === true ? {} : rule) as ToolRule<unknown>,
        threadOf: (context) => threadOf(context as Context),
      });
      const make = (changed: AnyToolOptions): AnyFunctionTool =>
        sdkTool(changed as unknown as typeof options) as unknown as AnyFunctionTool;
      return gated.made(make) as ReturnType<AgentsGate<Context>["tool"]> as never;
    },
    record: async (state, answers, acting) => {
      const results: ButtonResult[] = [];
      for (const { item, approved, reason } of answers) {
        const { gate, id } = callOf(state, item);
        const button = { id, approved, ...(reason === undefined ? {} : { reason }) };
        results.push(await gate.press(button, { via: "openai-agents", ...acting }));
      }
      return results;
    },
    resume: (state) => resume(state, (item) => callOf(state, item)),
    cancel: (thread, reason) => new ThreadGate({ engine, app, thread }).cancel(reason),
  };
}

async function resume<Context>(
  state: State<Context>,
  callOf: (item: RunToolApprovalItem) => { readonly gate: ThreadGate; readonly id: string },
): Promise<Resumption> {
  const found = await Promise.all(
    state.getInterruptions().map(async (item) => {
      const { gate, id } = callOf(item);
      return { item, outcome: await gate.find({ id }) };
    }),
  );
  const known = found.flatMap(({ item, outcome }) => (outcome === undefined ? [] : [{ item, outcome }]));
  const waiting = known.map(({ outcome }) => outcome).filter(waits);
  if (known.length === 0 || known.length < found.length || waiting.length > 0)
    return { ready: false, waiting };
  for (const { item, outcome } of known) {
    if (REFUSED.has(outcome.status)) state.reject(item, { message: outcome.message });
    else state.approve(item);
  }
  return { ready: true };
}

const REFUSED: ReadonlySet<CallerOutcome["status"]> = new Set(["denied", "expired", "cancelled"]);

function waits({ status }: CallerOutcome): boolean {
  return status === "pending" || status === "unknown";
}

function callIdIn(turn: string, { rawItem }: RunToolApprovalItem): string {
  if ("callId" in rawItem && rawItem.callId !== undefined) return `${turn}/${rawItem.callId}`;
  throw new CountersignError("unknown-call", "This interruption is not about a call of a gated tool.");
}
