import { type FrameKind, refuseUnknown } from "../../engine/index.ts";
import { CountersignError, type JsonObject } from "../../protocol/index.ts";
import type { Model } from "../models/index.ts";
import type { Tool, Toolset } from "../tools/index.ts";
import { HOOK_NAMES, type HookContext, type Hooks } from "./hooks.ts";
import type { ConfirmationProvider } from "./provider.ts";

/** What all agents have: a place in the tree, under a name that is unique in it. */
export interface AnyAgent {
  readonly kind: FrameKind;
  readonly name: string;
  readonly description: string;
  /** Messages to start with, for people who do not know what to ask. */
  readonly examplePrompts?: readonly string[];
  readonly subAgents: readonly AnyAgent[];
  readonly hooks: Hooks;
}

/** An agent's instruction: a text, or a function that returns it. */
export type Instruction = string | ((ctx: HookContext) => string | Promise<string>);

/** Options of an agent. Only the name is required. */
export interface AgentOptions extends Hooks {
  readonly name: string;
  readonly description?: string;
  /** Messages that a person can begin with; the chat offers them. */
  readonly examplePrompts?: readonly string[];
  /** A model, or its name, which the Runner resolves. */
  readonly model?: string | Model;
  /** May name state as `{key}`. */
  readonly instruction?: Instruction;
  readonly tools?: readonly (Tool | Toolset)[];
  /** Agents that this one may hand over to. */
  readonly subAgents?: readonly AnyAgent[];
  /** State key under which the agent's final text is stored. */
  readonly outputKey?: string;
  readonly generateContentConfig?: JsonObject;
  /** Answers this agent's confirmations in this process; after a handoff the new agent's counts. */
  readonly confirmationProvider?: ConfirmationProvider;
  /**
   * A permanent approval by the author for the author's own gates (a tool's own flag, `withConfirmation`, a tool's own
   * questions), for use without a provider. Never removes policy, manifest or MCP gates.
   */
  readonly withoutProvider?: "run";
}

const KNOWN_OPTIONS: ReadonlySet<string> = new Set<keyof AgentOptions>([
  ...HOOK_NAMES,
  "name",
  "description",
  "examplePrompts",
  "model",
  "instruction",
  "tools",
  "subAgents",
  "outputKey",
  "generateContentConfig",
  "confirmationProvider",
  "withoutProvider",
]);

/** An agent with a model and tools. */
export class Agent implements AnyAgent {
  readonly kind = "llm" as const;
  readonly name: string;
  readonly description: string;
  readonly examplePrompts: readonly string[];
  readonly model: string | Model | undefined;
  readonly instruction: Instruction;
  readonly tools: readonly (Tool | Toolset)[];
  readonly subAgents: readonly AnyAgent[];
  readonly outputKey: string | undefined;
  readonly generateContentConfig: JsonObject | undefined;
  readonly confirmationProvider: ConfirmationProvider | undefined;
  readonly withoutProvider: "run" | undefined;
  readonly hooks: Hooks;

  constructor(options: AgentOptions) {
    refuseUnknown("Agent", options, KNOWN_OPTIONS);
    this.name = nameOf(options.name);
    this.description = options.description ?? "";
    this.examplePrompts = options.examplePrompts ?? [];
    this.model = options.model;
    this.instruction = options.instruction ?? "";
    this.tools = options.tools ?? [];
    this.subAgents = options.subAgents ?? [];
    this.outputKey = options.outputKey;
    this.generateContentConfig = options.generateContentConfig;
    this.confirmationProvider = options.confirmationProvider;
    this.withoutProvider = options.withoutProvider;
    this.hooks = hooksIn(options);
  }
}

function hooksIn(options: Hooks): Hooks {
  return Object.fromEntries(HOOK_NAMES.filter((name) => options[name]).map((name) => [name, options[name]]));
}

interface CompositeOptions extends Pick<Hooks, "beforeAgent" | "afterAgent"> {
  readonly name: string;
  readonly description?: string;
  readonly subAgents: readonly AnyAgent[];
}

/** What agents that only arrange others have in common. */
abstract class Composite implements AnyAgent {
  protected static readonly known: readonly string[] = [
    "name",
    "description",
    "subAgents",
    "beforeAgent",
    "afterAgent",
  ];
  abstract readonly kind: FrameKind;
  readonly name: string;
  readonly description: string;
  readonly subAgents: readonly AnyAgent[];
  readonly hooks: Hooks;

  constructor(options: CompositeOptions) {
    refuseUnknown(new.target.name, options, new Set(new.target.known));
    this.name = nameOf(options.name);
    this.description = options.description ?? "";
    this.subAgents = options.subAgents;
    this.hooks = hooksIn(options);
  }
}

/** Runs its agents one after the other. It ends if one of them fails, because later agents depend on earlier ones. */
export class SequentialAgent extends Composite {
  override readonly kind = "sequential" as const;
}

/** Runs its agents at the same time, each in a branch of the conversation that the others do not see. */
export class ParallelAgent extends Composite {
  override readonly kind = "parallel" as const;
}

/**
 * Runs its agents in turn, repeatedly, until one escalates or `maxIterations` is reached. Default: the Runner's
 * `maxModelCalls`.
 */
export class LoopAgent extends Composite {
  protected static override readonly known: readonly string[] = [...Composite.known, "maxIterations"];
  override readonly kind = "loop" as const;
  readonly maxIterations: number | undefined;

  constructor(options: CompositeOptions & { readonly maxIterations?: number }) {
    super(options);
    this.maxIterations = options.maxIterations;
  }
}

function nameOf(name: string): string {
  if (name !== "" && name !== "user") return name;
  throw new CountersignError(
    "invalid-option",
    `An agent cannot be named "${name}". The name "user" is reserved for the person who talks to it.`,
  );
}
