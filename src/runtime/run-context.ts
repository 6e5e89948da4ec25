import type { Engine, EngineParts, GateRules } from "../engine/index.ts";
import type { AgentTree, Hooks } from "./agents/index.ts";
import type { SessionNames } from "./history/index.ts";
import type { Background, Cancellation } from "./loop/index.ts";
import type { RequestHeaders } from "./messages/index.ts";
import type { Model, ModelResolver } from "./models/index.ts";
import type { RunFeed } from "./streaming/index.ts";

export interface RunSettings {
  /** How many model calls one agent may make for one message. */
  readonly maxModelCalls: number;
  /** How many bytes of JSON one answer of a model, or of a hook in its place, may have. */
  readonly maxModelBytes: number;
  /** How long a model may send nothing. */
  readonly modelTimeoutMs: number;
}

/** What every step of an app's runs uses. */
export interface RunContext {
  readonly app: string;
  readonly engine: Engine;
  /** Internal parts of the engine, for commands that are not public. */
  readonly parts: EngineParts;
  readonly agents: AgentTree;
  readonly hooks: Hooks;
  /** What its agents' calls are judged with. */
  readonly rules: GateRules;
  /** What the calls of its remote agents are judged with. */
  readonly remoteRules: GateRules;
  readonly models: ModelResolver;
  readonly feed: RunFeed;
  readonly names: SessionNames;
  readonly requestHeaders: RequestHeaders;
  readonly settings: RunSettings;
  readonly cancellation: Cancellation;
  /** Background work; `close` waits for it. */
  readonly background: Background;
  /** Aborts when the Runner is being closed. */
  readonly closing: AbortSignal;
  /** Aborts when the Runner is closed, so that nothing waits any longer. */
  readonly closed: AbortSignal;
  newId(): string;
  now(): number;
  sleep(ms: number, signal: AbortSignal): Promise<void>;
  /** As the engine's clock has it. */
  sleepInBackground(ms: number, signal: AbortSignal): Promise<void>;
  after(ms: number, then: () => void): () => void;
  /** Keeps the process alive until the returned function is called. */
  hold(): () => void;
}

/** The model of an agent: its own object, or whatever the Runner finds under its name. */
export async function modelOf(context: RunContext, model: string | Model): Promise<Model> {
  return typeof model === "string" ? context.models(model) : model;
}
