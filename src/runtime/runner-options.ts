import type { EngineOptions, Ledger } from "../engine/index.ts";
import type { Content, JsonObject, Wire } from "../protocol/index.ts";
import type { AnyAgent } from "./agent.ts";
import { HOOK_NAMES, type Hooks } from "./hooks.ts";
import type { RunLimits } from "./limit-run.ts";
import type { ModelResolver } from "./model.ts";
import type { Policy } from "./policy.ts";
import type { RunSettings } from "./run-context.ts";

export interface RunnerOptions extends Hooks, Partial<RunSettings>, Omit<Partial<EngineOptions>, "ledger"> {
  readonly agent: AnyAgent;
  /** The app's name in the ledger; the agent's if nothing is said. */
  readonly app?: string;
  /** An open ledger, or how to open one when it is first needed. */
  readonly ledger: Ledger | (() => Promise<Ledger>);
  readonly models: ModelResolver;
  readonly policy?: Policy;
  /** What becomes of open questions when the user says something else. */
  readonly whilePending?: "converse" | "cancel";
  readonly wire?: Wire;
}

export const KNOWN_RUNNER_OPTIONS: ReadonlySet<string> = new Set<keyof RunnerOptions>([
  ...HOOK_NAMES,
  "agent",
  "app",
  "ledger",
  "models",
  "policy",
  "whilePending",
  "wire",
  "maxModelCalls",
  "maxOpen",
  "maxRounds",
  "leaseMs",
  "heartbeatMs",
  "clock",
  "newId",
  "secret",
  "hostName",
]);

export interface SendOptions extends RunLimits {
  readonly user: string;
  /** Made if none is named. */
  readonly session?: string;
  readonly stateDelta?: JsonObject;
}

export interface RunInput extends RunLimits {
  readonly userId: string;
  readonly sessionId: string;
  readonly message: string | Content;
  readonly stateDelta?: JsonObject;
  readonly invocationId?: string;
  /** Text in pieces, as it comes. */
  readonly streaming?: boolean;
  readonly wire?: Wire;
}
