import type { Transport } from "@modelcontextprotocol/client";
import {
  AppOpenLimit,
  type Approvers,
  type CallContext,
  checkAsking,
  type Engine,
  flawOfName,
  type GatedFunction,
  type GateOutcome,
  MAX_OPEN_PER_SERVER,
  OutcomeUnknown,
  type PrincipalInput,
  partsOf,
  rulesAt,
  valueDigest,
} from "../../engine/index.ts";
import {
  CountersignError,
  isReservedName,
  type JsonObject,
  member,
  toJsonValue,
} from "../../protocol/index.ts";
import { objectOf, type RequestId, textOf } from "../rpc/index.ts";
import { describeServer, leavesOpen, type McpServer, OwnUpstream, UpstreamError } from "../servers/index.ts";
import { duplicateMember, sameName } from "../tools/index.ts";
import { type CallKey, CallKeys } from "./call-keys.ts";
import { ambiguous, failure, failureIn, isFinal, outcomeResult } from "./gateway-outcome.ts";
import { GatewaySession } from "./gateway-session.ts";
import { ListedTools } from "./listed-tools.ts";

/** Options of {@link McpGateway}. */
export interface McpGatewayOptions {
  readonly engine: Engine;
  /** The server's name for people; its calls are listed under `mcp:<name>`. Use one name per server. */
  readonly name: string;
  readonly server: McpServer;
  /** Tools that need approval. Default: all. */
  readonly require?: readonly string[];
  /** Who counts as the requester. */
  readonly by: PrincipalInput;
  readonly approvers?: Approvers;
  readonly expiresInMs?: number;
  /** How long an approved call may run before its outcome is unknown. */
  readonly timeoutMs?: number;
}

/** A gated call as a client sent it. */
export interface GatedRequest {
  readonly tool: string;
  readonly args: JsonObject;
  /** Where it was asked for, and under which id. */
  readonly session: GatewaySession;
  readonly id: RequestId;
  /** Aborts when the client has cancelled. */
  readonly signal: AbortSignal;
  /** Called from time to time while a person is awaited. */
  readonly onWaiting: (message: string) => void;
}

const PROGRESS_MS = 5_000;
const DEFAULT_TIMEOUT_MS = 600_000;
const TOO_MANY = `${MAX_OPEN_PER_SERVER} calls to this server already wait for a person; nobody was asked about this one, and it did not run`;

type Gate = GatedFunction<JsonObject, JsonObject>;

interface Telling {
  readonly gate: Gate;
  readonly key: CallKey;
  readonly onOutcome: (result: JsonObject) => Promise<void>;
}

/** Where an approved call is run, and what the server lists there now. */
interface Place {
  readonly place: Pick<GatewaySession, "runTool">;
  readonly tools: readonly JsonObject[];
}

/**
 * A gate in front of an MCP server, for any MCP client. Ungated calls pass through; a call of a gated tool becomes a
 * confirmation, and the client's call waits for its outcome. A client that times out and calls again with the same
 * arguments gets the same confirmation, until the outcome was delivered once.
 */
export class McpGateway {
  readonly #options: McpGatewayOptions;
  readonly #keys: CallKeys;
  readonly #limit: AppOpenLimit;
  readonly #sessions = new Set<GatewaySession>();
  readonly #gates = new Map<string, Gate>();
  /** The request that asked, by the key of its call: an approved call runs where it was asked for. */
  readonly #askers = new Map<string, GatedRequest>();
  /** Clients' calls that wait, by the key of the call. */
  readonly #calls = new Map<Promise<void>, string>();
  /** The keys of those that run. */
  readonly #running = new Set<string>();
  readonly #own: OwnUpstream;
  /** With a policy, any tool may need approval or be denied. */
  readonly #hasPolicy: boolean;

  constructor(options: McpGatewayOptions) {
    checkAsking(`The gateway ${options.name}`, options);
    this.#options = options;
    this.#hasPolicy = rulesAt(partsOf(options.engine), "mcp").policies.length > 0;
    this.#own = new OwnUpstream(options.server);
    this.#keys = new CallKeys(options.engine.ledger, this.#app);
    this.#limit = new AppOpenLimit(options.engine.ledger, this.#app);
  }

  /**
   * Lists the server's tools, so that calls that were approved earlier can run from now on, with or without a client.
   * Throws `invalid-option` if the server cannot be reached, and for a name in `require` that it does not list.
   */
  async open(): Promise<void> {
    const tools = new ListedTools(await this.#own.listAll());
    const missing = this.#options.require?.find((name) => tools.get(name) === undefined);
    if (missing !== undefined) {
      throw new CountersignError(
        "invalid-option",
        `${this.#options.name} has no tool "${missing}", which --require names. Check the spelling: a wrong name would leave a tool without approval. Its tools are ${tools.names.join(", ")}.`,
        { details: { option: "require" } },
      );
    }
    this.define(tools);
  }

  /** Serves one client. Resolves when the client or the server is gone; rejects if the server cannot be started. */
  async serve(client: Transport): Promise<void> {
    const session = new GatewaySession(client, await this.#own.another(), this);
    this.#sessions.add(session);
    try {
      await session.run();
    } finally {
      this.#sessions.delete(session);
      for (const [key, asker] of this.#askers) if (asker.session === session) this.#askers.delete(key);
    }
  }

  /**
   * Disconnects the clients. Running calls finish first and are answered; open confirmations stay in the ledger. Stop
   * the engine's worker before, or it keeps claiming approved calls.
   */
  async close(): Promise<void> {
    await Promise.allSettled(
      [...this.#calls].flatMap(([told, key]) => (this.#running.has(key) ? [told] : [])),
    );
    await Promise.all([...this.#sessions].map((session) => session.close()));
    await Promise.allSettled(this.#calls.keys());
    await this.#own.rest();
  }

  /** Does the tool need approval? So does a name that looks like a gated tool. */
  isGated(tool: string): boolean {
    const { require } = this.#options;
    return require === undefined || sameName(require, tool);
  }

  /** Does a policy hold a call of an ungated tool? If the policy fails, the call is held. */
  async isRuled(tool: string, args: JsonObject): Promise<boolean> {
    if (!this.#hasPolicy) return false;
    const gate = this.#gates.get(tool);
    if (gate === undefined || duplicateMember(args) !== undefined) return true;
    return (await gate.judge(args, this.#options.by)).outcome !== "allow";
  }

  /** Stores the server's tool definitions, so that a person approves exactly what is shown. */
  define(tools: ListedTools): void {
    for (const name of tools.names) {
      const tool = tools.get(name);
      // A tool with a reserved name, or one that no ledger can store, is left out; a call of it finds no tool.
      if (tool === undefined || name === "" || isReservedName(name) || flawOfName(name) !== undefined)
        continue;
      const mayAsk = this.#hasPolicy || this.isGated(name);
      if (mayAsk && !tools.isAmbiguous(name)) this.#gates.set(name, this.#gate(name, tool));
    }
  }

  /** Asks a person about a call and waits for its outcome, which is always a tool result. */
  async call(request: GatedRequest, onOutcome: (result: JsonObject) => Promise<void>): Promise<void> {
    const { tool, args } = request;
    const gate = this.#gates.get(tool);
    if (gate === undefined) return onOutcome(failure(`there is no tool "${tool}"`));
    const key = await this.#keys.open(tool, args);
    const { by } = this.#options;
    const isAsked = await this.#limit.asks(key.text, () => gate(args, { key: key.text, by }));
    if (!isAsked) return onOutcome(failure(TOO_MANY));
    const asker = this.#askers.get(key.text);
    if (asker === undefined || asker.signal.aborted) this.#askers.set(key.text, request);
    const told = this.#tell(request, { gate, key, onOutcome });
    const settled = told.catch(() => {});
    this.#calls.set(settled, key.text);
    await told.finally(() => this.#calls.delete(settled));
  }

  async #tell(request: GatedRequest, { gate, key, onOutcome }: Telling): Promise<void> {
    const outcome = await this.#outcome(gate, request, key.text);
    if (request.signal.aborted) return;
    const tell = (): Promise<void> => onOutcome(outcomeResult(outcome));
    if (!isFinal(outcome)) return tell();
    this.#askers.delete(key.text);
    await this.#keys.deliver(key, tell);
  }

  async #outcome(gate: Gate, request: GatedRequest, key: string): Promise<GateOutcome<JsonObject>> {
    const { engine, by } = this.#options;
    for (;;) {
      const outcome = await gate(request.args, { key, by });
      if (outcome.status !== "pending" && outcome.status !== "executing") return outcome;
      const given = aborted(request.signal);
      const stop = keepTelling(request, () => gate(request.args, { key, by }));
      await Promise.race([engine.finished(outcome.callId), given.up]).finally(() => {
        given.forget();
        stop();
      });
      if (request.signal.aborted) return outcome;
    }
  }

  #gate(name: string, listed: JsonObject): Gate {
    const { engine, approvers, expiresInMs } = this.#options;
    const description = textOf(listed, "description");
    return engine.gate<JsonObject, JsonObject>(
      name,
      {
        app: this.#app,
        redefine: true,
        entryPoint: "mcp",
        requireConfirmation: this.isGated(name),
        source: this.#options.name,
        place: describeServer(this.#options.server),
        parameters: objectOf(listed, "inputSchema"),
        annotations: objectOf(listed, "annotations"),
        ...(description === undefined ? {} : { description }),
        ...(approvers === undefined ? {} : { approvers }),
        ...(expiresInMs === undefined ? {} : { expiresInMs }),
      },
      async (args, context) => {
        const { id } = context.session;
        this.#running.add(id);
        return this.#forward(listed, args, context).finally(() => {
          this.#running.delete(id);
          if (this.#askers.get(id)?.signal.aborted === true) this.#askers.delete(id);
        });
      },
    );
  }

  /** Runs an approved call on the server. An answer that is lost leaves the outcome unknown. */
  async #forward(approved: JsonObject, args: JsonObject, context: CallContext): Promise<JsonObject> {
    const tool = textOf(approved, "name") ?? "";
    const asker = this.#askers.get(context.session.id);
    const { place, tools } = await this.#place(asker).catch((cause: unknown) => {
      throw new UpstreamError(`the server could not be reached, so ${tool} did not run`, { cause });
    });
    this.#checkUnchanged(approved, new ListedTools(tools));
    const { timeoutMs = DEFAULT_TIMEOUT_MS } = this.#options;
    try {
      const { signal } = context;
      const result = await place.runTool(tool, args, { signal, timeoutMs, id: asker?.id ?? "" });
      const json = toJsonValue(result);
      if (!json.ok) throw new UpstreamError(`the server's answer is not valid JSON: ${json.message}`);
      if (member(result, "isError") === true) throw new UpstreamError(failureIn(result));
      return result;
    } catch (error) {
      if (error instanceof UpstreamError || !leavesOpen(error)) throw error;
      const why = error instanceof Error ? error.message : String(error);
      throw new OutcomeUnknown(`${tool} was sent, but the answer was lost: ${why}`);
    }
  }

  /**
   * The connection that asked for the call, if it is still open: a server may keep state per connection, and ask its
   * client.
   */
  async #place(asker: GatedRequest | undefined): Promise<Place> {
    const { session } = asker ?? {};
    if (session?.isReady === true) {
      const tools = await session.listTools().catch(() => undefined);
      if (tools !== undefined) return { place: session, tools };
    }
    return { place: this.#own, tools: await this.#own.listTools() };
  }

  // A server may change a tool without announcing it; this is the last check.
  #checkUnchanged(approved: JsonObject, tools: ListedTools): void {
    const name = textOf(approved, "name") ?? "";
    if (tools.isAmbiguous(name))
      throw new UpstreamError(
        `${ambiguous(name)}; there was only one when it was approved, so it did not run`,
      );
    const now = tools.get(name);
    if (now !== undefined && this.#digest(now) === this.#digest(approved)) return;
    if (now !== undefined) this.define(new ListedTools([now]));
    throw new UpstreamError(
      `${name} has changed since it was approved, so it did not run; call it again to ask for a new approval`,
    );
  }

  #digest(listed: JsonObject): string {
    const parts = ["description", "inputSchema", "annotations"].map((part) => member(listed, part) ?? null);
    return valueDigest(this.#options.engine.ledger.digestKey, parts);
  }

  get #app(): string {
    return `mcp:${this.#options.name}`;
  }
}

/** Sends progress at once and then every few seconds, with the question that is open at that moment. */
function keepTelling(
  { tool, onWaiting }: GatedRequest,
  look: () => Promise<GateOutcome<JsonObject>>,
): () => void {
  const tell = async (): Promise<void> => {
    const outcome = await look();
    if (outcome.status === "pending")
      onWaiting(`${tool} waits for a person's approval (${outcome.confirmation.id})`);
    if (outcome.status === "executing") onWaiting(`${tool} is running`);
  };
  // The code that waits for the outcome reports an unreadable ledger.
  const attempt = (): void => void tell().catch(() => {});
  attempt();
  const timer = setInterval(attempt, PROGRESS_MS);
  return () => clearInterval(timer);
}

function aborted(signal: AbortSignal): { readonly up: Promise<void>; readonly forget: () => void } {
  const { promise, resolve } = Promise.withResolvers<void>();
  const onAbort = (): void => resolve();
  if (signal.aborted) resolve();
  else signal.addEventListener("abort", onAbort, { once: true });
  return { up: promise, forget: () => signal.removeEventListener("abort", onAbort) };
}
