import type { Confirmation, Engine } from "../../engine/index.ts";
import { CountersignError, type JsonObject } from "../../protocol/index.ts";
import { ThreadGate } from "../thread-gate.ts";
import { checkRules, type GivenRule, ONLY_POLICY, type ToolRule } from "../tool-rule.ts";
import { GatedTool, type Gating, type McpCaller } from "./gated-tool.ts";
import {
  type GateableServer,
  type McpRequest,
  type RegisteredTool,
  type ToolHandler,
  toolsOf,
} from "./sdk.ts";
import { keepReceived } from "./sent-arguments.ts";

/** The arguments of a server's tools, by the tool's name. */
export interface ToolArguments {
  readonly [tool: string]: object;
}

/** Options of {@link gateServer}. */
export interface GateServerOptions<Tools extends ToolArguments = { readonly [tool: string]: JsonObject }> {
  readonly engine: Engine;
  /** The app that its calls are listed under. */
  readonly app: string;
  /** Default: the app. */
  readonly agent?: string;
  /**
   * When people are asked, by the tool's name. Tools without a rule are not gated, unless the engine has a policy. Every
   * name must be registered before the server connects, and after `gateServer`.
   */
  readonly rules: { readonly [tool in keyof Tools]?: GivenRule<Tools[tool]> };
  /** Whose call a request is. Read it from what your server has authenticated, never from the call's arguments. */
  readonly identify: (request: McpRequest) => McpCaller | Promise<McpCaller>;
  /** How long a request waits for the decision before the client is told to call again. Default: 45 s; many clients give up after 60 s. */
  readonly waitMs?: number;
  /**
   * How long a client may take to call again after the decision. After that an unused approval is withdrawn, an outcome
   * counts as told, and an equal call asks anew. Calls with a `callId` keep theirs for good. Default: 1 hour.
   */
  readonly collectWithinMs?: number;
  /** The address where a person decides, such as the question's page in the inbox. Clients that can open addresses are asked to. */
  readonly inbox?: (confirmation: Confirmation) => string;
}

/** A server's gate. */
export interface ServerGate {
  /** Withdraws every call of a thread that has not started. Returns how many. */
  cancel(thread: string, reason: string): Promise<number>;
}

interface Rules {
  readonly [tool: string]: GivenRule<JsonObject> | undefined;
}

const WAIT_MS = 45_000;
const COLLECT_MS = 3_600_000;

/**
 * Puts the tools that are registered from now on behind the gate: people are asked in the ledger, and an approved call
 * runs at most once.
 */
export function gateServer<Tools extends ToolArguments = { readonly [tool: string]: JsonObject }>(
  server: GateableServer,
  options: GateServerOptions<Tools>,
): ServerGate {
  const { rules: given, waitMs = WAIT_MS, collectWithinMs = COLLECT_MS, ...rest } = options;
  // Each is called with the arguments of its own tool only.
  const rules = given as Rules;
  checkMs({ waitMs, collectWithinMs });
  const { engine, app } = rest;
  const gating: Gating = { ...rest, waitMs, collectWithinMs, server: server.server };
  const { hasPolicy } = new ThreadGate({ engine, app, thread: app });
  const seen = new Map<string, RegisteredTool>();
  const gated = (name: string, handler: ToolHandler, register: (handler: never) => RegisteredTool) => {
    const rule = ruleOf(rules, name, hasPolicy);
    if (rule === undefined) return register(handler as never);
    const tool = new GatedTool(gating, name, rule);
    const registered = register(tool.wrap(handler) as never);
    tool.registered = registered;
    gateUpdates(registered, tool);
    seen.set(name, registered);
    return registered;
  };
  const register = server.registerTool.bind(server);
  server.registerTool = (name, config, handler) =>
    gated(name, handler, (wrapped) => register(name, config, wrapped));
  const older = server.tool?.bind(server);
  if (older !== undefined)
    server.tool = (name, ...more) =>
      gated(name, more.at(-1) as never, (wrapped) => older(name, ...more.slice(0, -1), wrapped));
  const connect = server.connect.bind(server);
  server.connect = async (transport) => {
    // A misspelt name would have no gate.
    checkRules(rules, seen);
    checkTools(server, { seen, isJudged: (name) => ruleOf(rules, name, hasPolicy) !== undefined });
    keepReceived(transport);
    return connect(transport);
  };
  return { cancel: (thread, reason) => new ThreadGate({ engine, app, thread }).cancel(reason) };
}

function checkMs(options: { readonly [name: string]: number }): void {
  for (const [name, ms] of Object.entries(options))
    if (!(ms >= 0 && ms < Number.POSITIVE_INFINITY))
      throw new CountersignError("invalid-option", `\`${name}\` must be a number of milliseconds.`);
}

/** A tool that was registered before the gate, or in another way, would run without anybody's look at it. */
function checkTools(
  server: GateableServer,
  at: { readonly seen: ReadonlyMap<string, RegisteredTool>; readonly isJudged: (name: string) => boolean },
): void {
  const known = new Set<unknown>(at.seen.values());
  for (const [name, tool] of toolsOf(server))
    if (at.isJudged(name) && !known.has(tool))
      throw new CountersignError(
        "invalid-option",
        `The tool "${name}" is not behind the gate: register it after \`gateServer\`, with \`registerTool\`.`,
      );
}

function ruleOf(rules: Rules, name: string, hasPolicy: boolean): ToolRule<JsonObject> | undefined {
  const rule = Object.hasOwn(rules, name) ? rules[name] : undefined;
  if (rule === true) return {};
  if (rule !== undefined) return rule;
  return hasPolicy ? ONLY_POLICY : undefined;
}

/** A new function of the tool is gated too. */
function gateUpdates(tool: RegisteredTool, gated: GatedTool): void {
  const update = tool.update.bind(tool) as (changes: object) => void;
  tool.update = (changes: { readonly callback?: ToolHandler }) => {
    const { callback } = changes;
    update(callback === undefined ? changes : { ...changes, callback: gated.wrap(callback) });
  };
}
