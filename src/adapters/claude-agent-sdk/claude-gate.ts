import { type Acting, type CallerOutcome, type CallerStatus, toldToModel } from "../../engine/index.ts";
import { CountersignError, isJsonObject, type JsonObject } from "../../protocol/index.ts";
import {
  type ButtonResult,
  type FrameworkCall,
  type PressedButton,
  ThreadGate,
  type ThreadOptions,
} from "../thread-gate.ts";
import { errorTextOf } from "../told.ts";
import { checkRules, type GivenRule, ONLY_POLICY, type ToolRule } from "../tool-rule.ts";
import { GatedTool } from "./gated-tool.ts";
import { allowed, denied, UNDECIDED } from "./hook-answers.ts";
import type {
  ArgsOf,
  ClaudeHooks,
  DeferredToolUse,
  HookOutput,
  PermissionAnswer,
  SdkTool,
  ToolUseInput,
} from "./host-types.ts";
import { handOver, othersTool } from "./others-tool.ts";
import { ClaudeTurn } from "./turn.ts";

/** Options of {@link createGate}. */
export interface ClaudeGateOptions extends ThreadOptions {
  /**
   * When people are asked about tools that Claude Code runs itself, by name, such as `Bash` or `mcp__github__merge`: approval
   * only. Those without a rule are left to Claude Code, unless the engine has a policy.
   */
  readonly rules?: { readonly [tool: string]: GivenRule<JsonObject> };
  /** How long a tool use waits for its decision before the run pauses. Default: 0. */
  readonly waitMs?: number;
}

/** Whether a paused run can go on, or what it still waits for. */
export type Resumption =
  | { readonly ready: true }
  /** Waiting for a decision, or for somebody to settle an unknown outcome. Empty if nobody was asked. */
  | { readonly ready: false; readonly waiting: readonly CallerOutcome[] };

/** The gate of one conversation. */
export interface ClaudeGate {
  /** Give these to `query`. */
  readonly hooks: ClaudeHooks;
  /** Instead of pausing, waits for a person wherever Claude Code would ask one: approval only, and only while this process lives. */
  readonly canUseTool: (
    tool: string,
    input: Record<string, unknown>,
    options: { readonly signal: AbortSignal; readonly toolUseID: string },
  ) => Promise<PermissionAnswer>;
  /** A tool of your own, for the server with this name in `mcpServers`, behind the gate: an approved call runs at most once. */
  tool<Tool extends SdkTool>(server: string, definition: Tool, rule?: GivenRule<ArgsOf<Tool>>): Tool;
  /** The input of one run: a user's message, or none to go on with a paused run. */
  turn(text?: string): ClaudeTurn;
  /** Whether a run that has paused at this tool use can go on. */
  resume(deferred: Pick<DeferredToolUse, "id">): Promise<Resumption>;
  /** Records a button of your own front end. Call it only with a person whom your server has authenticated. */
  record(button: PressedButton, acting: Acting): Promise<ButtonResult>;
  /** Withdraws every call of the conversation that has not started: the user moved on. Returns how many. */
  cancel(reason: string): Promise<number>;
}

const REFUSED: ReadonlySet<CallerStatus> = new Set(["denied", "expired", "cancelled"]);
/** So that the hook answers before Claude Code gives it up. */
const SPARE_SECONDS = 60;
const ONE_AT_A_TIME =
  "Another tool use of this turn waits for a person, and a run can wait for only one. Use this tool again after that one.";

/** Makes the gate of a conversation. Make it for each run. */
export function createGate(options: ClaudeGateOptions): ClaudeGate {
  return new Gate(options);
}

class Gate implements ClaudeGate {
  readonly #gate: ThreadGate;
  readonly #rules: NonNullable<ClaudeGateOptions["rules"]>;
  readonly #waitMs: number;
  readonly #tools = new Map<string, GatedTool>();
  /** The tool use that this run pauses at. */
  #paused: string | undefined;

  constructor({ rules = {}, waitMs = 0, ...thread }: ClaudeGateOptions) {
    if (!(waitMs >= 0 && waitMs < Number.POSITIVE_INFINITY))
      throw new CountersignError("invalid-option", "`waitMs` must be a number of milliseconds.");
    checkRules(rules, new Set(Object.keys(rules)));
    this.#gate = new ThreadGate(thread);
    this.#rules = rules;
    this.#waitMs = waitMs;
  }

  get hooks(): ClaudeHooks {
    const timeout = Math.ceil(this.#waitMs / 1_000) + SPARE_SECONDS;
    const hook: ClaudeHooks["PreToolUse"][number]["hooks"][number] = async (input, _id, { signal }) =>
      input.hook_event_name === "PreToolUse" ? this.#preToolUse(input as ToolUseInput, signal) : {};
    return { PreToolUse: [{ hooks: [hook], timeout, onFailure: "block" }] };
  }

  readonly canUseTool: ClaudeGate["canUseTool"] = async (name, input, { signal, toolUseID }) => {
    const rule = { ...this.#ruleOf(name), requireConfirmation: true };
    const call = othersTool(name, { args: input as JsonObject, id: `${toolUseID}/permission`, rule });
    try {
      await this.#gate.propose(call);
      await this.#gate.decided(call, { signal });
      const { outcome, args } = await handOver(this.#gate, call, signal);
      if (args !== undefined) return { behavior: "allow", updatedInput: args };
      return { behavior: "deny", message: textOf(outcome) };
    } catch (error) {
      // Nobody waits for the answer any more.
      if (signal.aborted) await this.#gate.withdraw(call, "the run was stopped").catch(() => {});
      if (CountersignError.isInstance(error)) return { behavior: "deny", message: error.message };
      throw error;
    }
  };

  tool<Tool extends SdkTool>(server: string, definition: Tool, rule: GivenRule<ArgsOf<Tool>> = true): Tool {
    checkName("server", server);
    checkName("tool", definition.name);
    // It is called with the arguments of this tool only.
    const given = (rule === true ? {} : rule) as ToolRule<JsonObject>;
    const gated = new GatedTool(this.#gate, definition, given);
    this.#tools.set(`mcp__${server}__${definition.name}`, gated);
    return { ...definition, handler: (args: JsonObject, extra: unknown) => gated.handle(args, extra) };
  }

  turn(text?: string): ClaudeTurn {
    this.#paused = undefined;
    return new ClaudeTurn(text);
  }

  async resume({ id }: Pick<DeferredToolUse, "id">): Promise<Resumption> {
    const outcome = await this.#gate.find({ id });
    if (outcome === undefined) return { ready: false, waiting: [] };
    return waits(outcome) ? { ready: false, waiting: [outcome] } : { ready: true };
  }

  record(button: PressedButton, acting: Acting): Promise<ButtonResult> {
    return this.#gate.press(button, { via: "claude-agent-sdk", ...acting });
  }

  cancel(reason: string): Promise<number> {
    return this.#gate.cancel(reason);
  }

  async #preToolUse(use: ToolUseInput, signal: AbortSignal): Promise<HookOutput> {
    try {
      const gated = this.#tools.get(use.tool_name);
      return await (gated === undefined
        ? this.#beforeOthers(use, signal)
        : this.#beforeGated(use, gated, signal));
    } catch (error) {
      if (CountersignError.isInstance(error)) return denied(error.message);
      throw error;
    }
  }

  /** For a tool of this process: its function claims the call. */
  async #beforeGated(use: ToolUseInput, gated: GatedTool, signal: AbortSignal): Promise<HookOutput> {
    const parsed = await gated.parse(use.tool_input);
    if (!parsed.ok) return denied(parsed.message);
    const call = await gated.used(parsed.args, { id: use.tool_use_id, sent: use.tool_input });
    const outcome = await this.#decided(call, signal);
    if (waits(outcome)) return this.#pause(call, outcome);
    if (REFUSED.has(outcome.status)) return denied(textOf(outcome));
    return outcome.confirmation === undefined ? UNDECIDED : allowed();
  }

  /** For a tool that Claude Code runs: the approval is given once, and whether it ran is not known here. */
  async #beforeOthers(use: ToolUseInput, signal: AbortSignal): Promise<HookOutput> {
    const { tool_name: name, tool_input: input, tool_use_id: id, cwd } = use;
    const rule = this.#ruleOf(name);
    if (rule === undefined) return UNDECIDED;
    if (!isJsonObject(input)) return denied("The input of a tool must be an object.");
    const call = othersTool(name, { args: input, id, rule, ...(cwd === undefined ? {} : { cwd }) });
    const decided = await this.#decided(call, signal);
    if (waits(decided)) return this.#pause(call, decided);
    const { outcome, args } = await handOver(this.#gate, call, signal);
    if (waits(outcome)) return this.#pause(call, outcome);
    if (args === undefined) return denied(textOf(outcome));
    if (outcome.confirmation === undefined) return UNDECIDED;
    return allowed(outcome.amended === undefined ? undefined : args);
  }

  async #decided(call: FrameworkCall<JsonObject>, signal: AbortSignal): Promise<CallerOutcome> {
    const outcome = await this.#gate.propose(call);
    if (this.#waitMs > 0 && outcome.status === "pending")
      return this.#gate.decided(call, { signal, timeoutMs: this.#waitMs });
    // Its process may be lost: then it is unknown.
    return outcome.status === "executing" ? ((await this.#gate.find(call)) ?? outcome) : outcome;
  }

  /** Ends the run, which goes on from here when it is resumed. Claude Code can do so for one tool use only. */
  async #pause(call: FrameworkCall<JsonObject>, outcome: CallerOutcome): Promise<HookOutput> {
    if (this.#paused !== undefined && this.#paused !== call.id) {
      if (outcome.status === "pending") await this.#gate.withdraw(call, ONE_AT_A_TIME);
      return denied(outcome.status === "pending" ? ONE_AT_A_TIME : outcome.message);
    }
    this.#paused = call.id;
    return { hookSpecificOutput: { hookEventName: "PreToolUse", permissionDecision: "defer" } };
  }

  #ruleOf(name: string): ToolRule<JsonObject> | undefined {
    const rule = Object.hasOwn(this.#rules, name) ? this.#rules[name] : undefined;
    if (rule === true) return {};
    return rule ?? (this.#gate.hasPolicy ? ONLY_POLICY : undefined);
  }
}

/** Claude Code replaces other characters, and the hook would not know the tool by its name. */
function checkName(what: string, name: string): void {
  if (/^[\w-]+$/.test(name)) return;
  throw new CountersignError(
    "invalid-option",
    `The ${what} name "${name}" of a gated tool must have only letters A to Z, digits, "_" and "-".`,
  );
}

function waits({ status }: CallerOutcome): boolean {
  return status === "pending" || status === "unknown";
}

function textOf(outcome: CallerOutcome): string {
  const { ok, answer } = toldToModel(outcome);
  return ok ? HANDED_OVER : errorTextOf(answer);
}

const HANDED_OVER =
  "This tool use was approved before, and an approval is given only once. Ask again with a new tool use.";
