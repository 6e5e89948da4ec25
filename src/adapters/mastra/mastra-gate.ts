import { type Acting, type CallerOutcome, type Engine, partsOf } from "../../engine/index.ts";
import { CountersignError } from "../../protocol/index.ts";
import { type ButtonResult, ThreadGate } from "../thread-gate.ts";
import { checkRules, type GivenRule, ONLY_POLICY, type ToolRule } from "../tool-rule.ts";
import { GatedTool, idOf, waits } from "./gated-tool.ts";
import type { AnyTool, MastraRun, MastraTool } from "./host-types.ts";

/** Which conversation a run belongs to, as the program around the agent knows it. */
export interface Conversation {
  /** Your server must have checked that the user may use it. */
  readonly thread: string;
  /** Whom the agent works for, as your server has authenticated them. */
  readonly user?: string;
}

/** The memory that a run was started with: `memory: { thread, resource }`. */
export interface RunMemory {
  readonly threadId: string;
  readonly resourceId?: string;
}

/** Options of {@link createGate}. */
export interface MastraGateOptions {
  readonly engine: Engine;
  /** The app that its calls are listed under. */
  readonly app: string;
  /** Which conversation a run belongs to. */
  readonly identify: (memory: RunMemory) => Conversation;
}

/** The arguments of a tool, as its function gets them. */
type InputOf<Tool> = Tool extends { execute?: infer Execute }
  ? NonNullable<Execute> extends (input: infer Input, ...rest: never[]) => unknown
    ? Input
    : never
  : never;

/** A suspended call that somebody answered in a front end of yours. */
export interface AnsweredCall {
  readonly toolCallId: string;
  readonly approved: boolean;
  readonly reason?: string;
}

/** Whether the run can go on, or what it still waits for. */
export type Resumption =
  /** Resume the run with this, without a `toolCallId`: `agent.resumeGenerate(resumeData, { runId })`. */
  | { readonly ready: true; readonly resumeData: { readonly answered: true } }
  /** Waiting for a decision, or for somebody to settle an unknown outcome. Empty if it waits for nothing of ours. */
  | { readonly ready: false; readonly waiting: readonly CallerOutcome[] };

/** The gate of a program that runs agents of Mastra. */
export interface MastraGate {
  /**
   * The tools of an agent, behind the gate, with rules by name. One with `requireApproval` and no rule is asked about as
   * that says; any other without a rule is not gated, unless the engine has a policy.
   */
  tools<Tools extends { readonly [name: string]: MastraTool }>(
    tools: Tools,
    rules?: { readonly [name in keyof Tools]?: GivenRule<InputOf<Tools[name]>> },
  ): Tools;
  /** Records answers as decisions of this person. Call it only with a person whom your server has authenticated. */
  record(run: MastraRun, answers: readonly AnsweredCall[], acting: Acting): Promise<readonly ButtonResult[]>;
  /** What to resume a suspended run with, once every question is answered. */
  resume(run: MastraRun): Promise<Resumption>;
  /** Withdraws every call of a conversation that has not started: the user moved on. Returns how many. */
  cancel(thread: string, reason: string): Promise<number>;
}

const MARKER = Symbol.for("mastra.core.tool.Tool");

/** Makes the gate. People are asked in the ledger, and an approved call runs at most once. */
export function createGate({ engine, app, identify }: MastraGateOptions): MastraGate {
  const hasPolicy = partsOf(engine).policy !== undefined;
  const gateOf = ({ threadId, resourceId, agentId = app }: Identified): ThreadGate => {
    if (threadId === undefined) throw withoutThread();
    const { thread, user } = identify({ threadId, ...(resourceId === undefined ? {} : { resourceId }) });
    return new ThreadGate({ engine, app, agent: agentId, thread, ...(user === undefined ? {} : { user }) });
  };
  return {
    tools: (tools, rules = {}) => {
      checkRules(rules, new Set(Object.keys(tools)));
      const wrapped = Object.entries(tools).map(([name, tool]) => {
        const given = Object.hasOwn(rules, name) ? rules[name] : undefined;
        const rule = ruleOf(tool, { given, hasPolicy });
        if (rule === undefined) return [name, tool] as const;
        checkTool(name, tool);
        return [name, new GatedTool(tool, { name, rule, gateOf }).wrapped] as const;
      });
      // The same tools with other functions in them.
      return Object.fromEntries(wrapped) as unknown as typeof tools;
    },
    record: async (run, answers, acting) => {
      const gate = gateOf(run);
      const results: ButtonResult[] = [];
      for (const { toolCallId, ...button } of answers)
        results.push(
          await gate.press({ ...button, id: idOf(run.runId, toolCallId) }, { via: "mastra", ...acting }),
        );
      return results;
    },
    resume: (run) => resume(gateOf(run), run),
    cancel: (thread, reason) => new ThreadGate({ engine, app, thread }).cancel(reason),
  };
}

interface Identified {
  readonly threadId?: string;
  readonly resourceId?: string;
  readonly agentId?: string;
}

async function resume(gate: ThreadGate, { runId, toolCalls }: MastraRun): Promise<Resumption> {
  const found = await Promise.all(
    toolCalls.map(({ toolCallId = "" }) => gate.find({ id: idOf(runId, toolCallId) })),
  );
  const known = found.filter((outcome) => outcome !== undefined);
  const waiting = known.filter(waits);
  const isReady = known.length > 0 && known.length === found.length && waiting.length === 0;
  return isReady ? { ready: true, resumeData: { answered: true } } : { ready: false, waiting };
}

function ruleOf(
  { requireApproval }: AnyTool,
  { given, hasPolicy }: { readonly given: GivenRule<never> | undefined; readonly hasPolicy: boolean },
): ToolRule<unknown> | undefined {
  // Called with the arguments of its own tool only.
  if (given !== undefined) return (given === true ? {} : given) as ToolRule<unknown>;
  if (requireApproval !== undefined && requireApproval !== false) return {};
  return hasPolicy ? ONLY_POLICY : undefined;
}

function checkTool(name: string, tool: AnyTool): void {
  if (MARKER in tool && tool.execute !== undefined) return;
  throw new CountersignError(
    "invalid-option",
    `The tool "${name}" cannot be gated: make it with createTool, and give it an execute function.`,
  );
}

function withoutThread(): CountersignError {
  return new CountersignError("invalid-option", "The run has no thread, so its calls cannot be told apart.", {
    details: { hint: "Pass `memory: { thread, resource }` to `generate` or `stream`." },
  });
}
