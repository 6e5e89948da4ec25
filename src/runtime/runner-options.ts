import type {
  Engine,
  EngineOptions,
  IdempotentRequest,
  Ledger,
  Policy,
  PolicySource,
  PrincipalInput,
} from "../engine/index.ts";
import type { Content, JsonObject, Wire } from "../protocol/index.ts";
import { type AnyAgent, HOOK_NAMES, type Hooks } from "./agents/index.ts";
import type { RunLimits } from "./loop/index.ts";
import type { HeaderSource, ReadMessage } from "./messages/index.ts";
import type { ModelResolver } from "./models/index.ts";
import type { RunSettings } from "./run-context.ts";

export interface RunnerOptions extends Hooks, Partial<RunSettings>, Omit<Partial<EngineOptions>, "ledger"> {
  readonly agent: AnyAgent;
  /** The app's name in the ledger. Default: the agent's name. */
  readonly app?: string;
  /** An open ledger, or a function that opens one when it is first needed. Not used if an engine is given. */
  readonly ledger: Ledger | (() => Promise<Ledger>);
  /**
   * An engine that several Runners share: one lease, one worker, one connection for all of a server's apps. The creator
   * of the engine closes it, and the engine's settings apply.
   */
  readonly engine?: Engine;
  readonly models: ModelResolver;
  /**
   * Rules over the calls of this app, in addition to those of the given engine. To a Runner with a given engine, only a
   * function: a policy file also says who belongs to which group, and that is the engine's.
   */
  readonly policy?: Policy | PolicySource;
  /** What happens to open questions when the user sends a new message. */
  readonly whilePending?: "converse" | "cancel";
  readonly wire?: Wire;
}

export const KNOWN_RUNNER_OPTIONS: ReadonlySet<string> = new Set<keyof RunnerOptions>([
  ...HOOK_NAMES,
  "agent",
  "app",
  "ledger",
  "engine",
  "models",
  "policy",
  "whilePending",
  "wire",
  "maxModelCalls",
  "modelTimeoutMs",
  "maxOpen",
  "maxRounds",
  "maxLostAttempts",
  "maxResultBytes",
  "maxSessionBytes",
  "maxStateBytes",
  "maxModelBytes",
  "leaseMs",
  "heartbeatMs",
  "storeWithinMs",
  "closeWithinMs",
  "onError",
  "onNotice",
  "clock",
  "newId",
  "secret",
  "hostName",
  "trace",
]);

/** The speaker, if it is not just the session's user. */
interface Speaker {
  /** Decides the message's answers, and counts as a requester besides the session's user. */
  readonly by?: PrincipalInput;
  /** How the message was sent ("api", "cli", …); recorded with what it decides. */
  readonly via?: string;
  /** The headers of the message's request. Those that a toolset names reach its tools; none is stored. */
  readonly requestHeaders?: HeaderSource;
}

/** Who sends a message, and to which session. */
export interface SendOptions extends RunLimits, Speaker {
  readonly user: string;
  /** Created if not given. */
  readonly session?: string;
  readonly stateDelta?: JsonObject;
}

/** A message to a session, with the names that ADK clients use. */
export interface RunInput extends RunLimits, Speaker {
  readonly userId: string;
  readonly sessionId: string;
  readonly message: string | Content | ReadMessage;
  readonly stateDelta?: JsonObject;
  readonly invocationId?: string;
  /** Stream text in pieces. */
  readonly streaming?: boolean;
  readonly wire?: Wire;
  /** A message with a known key is not accepted again; the first run is watched. */
  readonly once?: IdempotentRequest;
}

/** A message whose run may be watched later. */
export type BeginInput = Omit<RunInput, keyof RunLimits | "streaming" | "wire" | "invocationId">;

const KNOWN_SPEAKER_OPTIONS = ["by", "via", "requestHeaders", "signal", "timeoutMs", "stateDelta"] as const;

export const KNOWN_SEND_OPTIONS: ReadonlySet<string> = new Set<keyof SendOptions>([
  ...KNOWN_SPEAKER_OPTIONS,
  "user",
  "session",
]);

export const KNOWN_BEGIN_OPTIONS: ReadonlySet<string> = new Set<keyof BeginInput>([
  "by",
  "via",
  "requestHeaders",
  "stateDelta",
  "userId",
  "sessionId",
  "message",
  "once",
]);

export const KNOWN_RUN_OPTIONS: ReadonlySet<string> = new Set<keyof RunInput>([
  ...KNOWN_SPEAKER_OPTIONS,
  "userId",
  "sessionId",
  "message",
  "invocationId",
  "streaming",
  "wire",
  "once",
]);
