import type { Transport } from "@modelcontextprotocol/client";
import {
  type Approvers,
  type Engine,
  type GatedFunction,
  type GateOutcome,
  OutcomeUnknown,
  type PrincipalInput,
} from "../engine/index.ts";
import { isJsonObject, type JsonObject, type JsonValue, member, toJsonValue } from "../protocol/index.ts";
import { CallKeys } from "./call-keys.ts";
import { describeServer, McpConnection, type McpServer, overHttp, stdio } from "./connection.ts";
import { GatewaySession, UpstreamError } from "./gateway-session.ts";
import { leavesOpen } from "./outcome.ts";

export interface McpGatewayOptions {
  readonly engine: Engine;
  /** What people know the server by; its calls are listed under `mcp:<name>`. */
  readonly name: string;
  readonly server: McpServer;
  /** Tools that need a person; all of them if nothing is said. */
  readonly require?: readonly string[];
  /** Who counts as having asked. */
  readonly by: PrincipalInput;
  readonly approvers?: Approvers;
  readonly expiresInMs?: number;
}

/** A gated call as a client sent it. */
export interface GatedRequest {
  readonly tool: string;
  readonly args: JsonObject;
  /** Aborts when the client has given up. */
  readonly signal: AbortSignal;
  /** Told now and then while a person is awaited. */
  readonly onWaiting: (message: string) => void;
}

const PROGRESS_MS = 5_000;
const OWN_TIMEOUT_MS = 300_000;

/**
 * Stands in front of an MCP server for any MCP client. What needs nobody passes through as it is; a call of a gated
 * tool becomes a confirmation, and the client's call waits for its outcome. A client that gives up and calls again
 * with the same arguments gets the same confirmation, until it has been told the outcome once.
 */
export class McpGateway {
  readonly #options: McpGatewayOptions;
  readonly #keys: CallKeys;
  readonly #sessions = new Set<GatewaySession>();
  readonly #gates = new Map<string, Gate>();
  readonly #own: McpConnection;

  constructor(options: McpGatewayOptions) {
    this.#options = options;
    this.#own = new McpConnection(options.server, () => {});
    this.#keys = new CallKeys(options.engine.ledger, this.#app);
  }

  /** Serves one client. Resolves when it, or the server, is gone. */
  async serve(client: Transport): Promise<void> {
    const session = new GatewaySession(client, openUpstream(this.#options.server), this);
    this.#sessions.add(session);
    try {
      await session.run();
    } finally {
      this.#sessions.delete(session);
    }
  }

  async close(): Promise<void> {
    await Promise.all([this.#own.close(), ...[...this.#sessions].map((session) => session.close())]);
  }

  isGated(tool: string): boolean {
    return this.#options.require?.includes(tool) ?? true;
  }

  /**
   * Learns what the server says of its tools, so that what a person is shown is what they approve. Calls that were
   * approved before this process began can run from then on.
   */
  define(listed: readonly JsonValue[]): void {
    for (const tool of listed) {
      const name = isJsonObject(tool) ? member(tool, "name") : undefined;
      if (!isJsonObject(tool) || typeof name !== "string" || !this.isGated(name)) continue;
      this.#gates.set(name, this.#gate(name, tool));
    }
  }

  /** Puts a call before a person and waits for its outcome, which is a tool result whatever it is. */
  async call(request: GatedRequest, onOutcome: (result: JsonObject) => Promise<void>): Promise<void> {
    const { tool, args } = request;
    const gate = this.#gates.get(tool);
    if (gate === undefined) return onOutcome(failure(`there is no tool "${tool}"`));
    const key = await this.#keys.open(tool, args);
    const outcome = await this.#outcome(gate, request, key.text);
    if (request.signal.aborted) return;
    await onOutcome(toResult(outcome));
    // Told: the same arguments from now on are a new call.
    if (isFinal(outcome)) await this.#keys.done(key);
  }

  async #outcome(gate: Gate, request: GatedRequest, key: string): Promise<GateOutcome<JsonObject>> {
    const { engine, by } = this.#options;
    for (;;) {
      const outcome = await gate(request.args, { key, by });
      if (outcome.status !== "pending" && outcome.status !== "executing") return outcome;
      const stop = keepTelling(request, outcome);
      const abandoned = aborted(request.signal);
      await Promise.race([engine.finished(outcome.callId), abandoned.promise]).finally(() => {
        abandoned.forget();
        stop();
      });
      if (request.signal.aborted) return outcome;
    }
  }

  #gate(name: string, listed: JsonObject): Gate {
    const { engine, approvers, expiresInMs } = this.#options;
    const description = member(listed, "description");
    const parameters = member(listed, "inputSchema");
    const annotations = member(listed, "annotations");
    return engine.gate<JsonObject, JsonObject>(
      name,
      {
        app: this.#app,
        redefine: true,
        requireConfirmation: true,
        source: `${this.#options.name} (${describeServer(this.#options.server)})`,
        ...(typeof description === "string" ? { description } : {}),
        ...(isJsonObject(parameters) ? { parameters } : {}),
        ...(isJsonObject(annotations) ? { annotations } : {}),
        ...(approvers === undefined ? {} : { approvers }),
        ...(expiresInMs === undefined ? {} : { expiresInMs }),
      },
      (args, { signal }) => this.#forward(name, args, signal),
    );
  }

  /** Runs an approved call on the server. An answer that is lost leaves the outcome unknown. */
  async #forward(tool: string, args: JsonObject, signal: AbortSignal): Promise<JsonObject> {
    // On the connection of a client where there is one: a server may keep things by connection.
    const session = [...this.#sessions].find(({ isReady }) => isReady);
    try {
      const result = await (session === undefined
        ? this.#own.callTool(tool, args, { signal, timeoutMs: OWN_TIMEOUT_MS, onProgress: () => {} })
        : session.request("tools/call", { name: tool, arguments: args }, signal));
      const json = toJsonValue(result);
      if (!json.ok || !isJsonObject(json.value)) throw new UpstreamError("the server's answer is not JSON");
      if (member(json.value, "isError") === true) throw new UpstreamError(textIn(json.value));
      return json.value;
    } catch (error) {
      if (error instanceof UpstreamError || !leavesOpen(error)) throw error;
      throw new OutcomeUnknown(`${tool} was sent, and its answer was lost`);
    }
  }

  get #app(): string {
    return `mcp:${this.#options.name}`;
  }
}

type Gate = GatedFunction<JsonObject, JsonObject>;

function openUpstream(server: McpServer): Transport {
  return "command" in server ? stdio(server) : overHttp(server);
}

function keepTelling(
  { tool, onWaiting }: GatedRequest,
  outcome: Extract<GateOutcome<JsonObject>, { status: "pending" | "executing" }>,
): () => void {
  const id = outcome.status === "pending" ? ` (${outcome.confirmation.id})` : "";
  const message =
    outcome.status === "pending" ? `${tool} waits for a person's approval${id}` : `${tool} is running`;
  onWaiting(message);
  const timer = setInterval(() => onWaiting(message), PROGRESS_MS);
  return () => clearInterval(timer);
}

function aborted(signal: AbortSignal): { readonly promise: Promise<void>; readonly forget: () => void } {
  const { promise, resolve } = Promise.withResolvers<void>();
  const onAbort = (): void => resolve();
  if (signal.aborted) resolve();
  else signal.addEventListener("abort", onAbort, { once: true });
  return { promise, forget: () => signal.removeEventListener("abort", onAbort) };
}

function isFinal({ status }: GateOutcome<JsonObject>): boolean {
  return status !== "pending" && status !== "executing" && status !== "unknown";
}

function toResult(outcome: GateOutcome<JsonObject>): JsonObject {
  switch (outcome.status) {
    case "succeeded":
      return outcome.result;
    case "failed":
      return failure(outcome.error);
    case "denied":
      return failure(`tool call was rejected by the user${because(outcome.reason)}`);
    case "expired":
      return failure("tool call expired before it was approved");
    case "cancelled":
      return failure(`tool call was withdrawn${because(outcome.reason)}`);
    default:
      return failure("the call was started and its outcome is not known; a person has to settle it");
  }
}

function because(reason: string | undefined): string {
  return reason === undefined ? "" : `: ${reason}`;
}

function failure(text: string): JsonObject {
  return { isError: true, content: [{ type: "text", text }] };
}

function textIn(result: JsonObject): string {
  const content = member(result, "content");
  const texts = Array.isArray(content)
    ? content.map((part: JsonValue) => (isJsonObject(part) ? member(part, "text") : undefined))
    : [];
  return texts.filter((text) => typeof text === "string").join("\n") || "the tool reported a failure";
}
