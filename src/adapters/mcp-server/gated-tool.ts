import {
  type CallerOutcome,
  type Confirmation,
  type Engine,
  readShape,
  type Shape,
} from "../../engine/index.ts";
import type { JsonObject, JsonValue } from "../../protocol/index.ts";
import { approvedArgs, isOpen, type ToolResult, ToolRun } from "../mcp-result.ts";
import { onlySent } from "../sent-members.ts";
import { type FrameworkCall, ThreadGate } from "../thread-gate.ts";
import { asApproved } from "../told.ts";
import type { ToolRule } from "../tool-rule.ts";
import { callOfArguments, type McpCallId, namedCall } from "./call-keys.ts";
import { isTooLate, noteOnEarlier } from "./collecting.ts";
import {
  type GateableServer,
  type McpRequest,
  type OpenRequest,
  type RegisteredTool,
  readRequest,
  type ToolHandler,
} from "./sdk.ts";
import { sentArguments } from "./sent-arguments.ts";
import { WaitingClient } from "./waiting.ts";

/** Whose call a request is, as your server knows it. */
export interface McpCaller {
  /** Calls with the same thread, user, tool and arguments are one call until its outcome was told. */
  readonly thread: string;
  /** Whom the client works for, as your server has authenticated them. */
  readonly user?: string;
  /** The client's own id of the call, if it sends one that is never used again: then a repeated call is always the same call. */
  readonly callId?: string;
}

/** How the tools of a server are gated. */
export interface Gating {
  readonly engine: Engine;
  readonly app: string;
  readonly agent?: string;
  readonly identify: (request: McpRequest) => McpCaller | Promise<McpCaller>;
  readonly waitMs: number;
  readonly collectWithinMs: number;
  readonly inbox?: (confirmation: Confirmation) => string;
  readonly server: GateableServer["server"];
}

interface Called {
  readonly gate: ThreadGate;
  readonly call: FrameworkCall<JsonObject>;
  /** Somebody else may tell the same outcome too. */
  readonly done: () => Promise<boolean>;
}

/** The arguments of a request. */
interface Arguments {
  readonly args: JsonObject;
  /** As the client sent them, before the SDK parsed them. */
  readonly sent: JsonObject | undefined;
}

/** How often a client that waits is told so. */
const TELL_MS = 5_000;

/** One tool behind the gate. */
export class GatedTool {
  readonly #gating: Gating;
  readonly #name: string;
  readonly #rule: ToolRule<JsonObject>;
  /** As it is registered now: a server may change it. */
  #registered: RegisteredTool | undefined;

  constructor(gating: Gating, name: string, rule: ToolRule<JsonObject>) {
    this.#gating = gating;
    this.#name = name;
    this.#rule = rule;
  }

  set registered(tool: RegisteredTool) {
    this.#registered = tool;
  }

  /** A look into the ledger in place of the author's function. */
  wrap(handler: ToolHandler): ToolHandler {
    return (...given) => {
      const [args, context] = given.length === 1 ? [{}, given[0]] : given;
      return this.#call(args as JsonObject, context, (approved) =>
        given.length === 1 ? handler(context) : handler(approved, context),
      );
    };
  }

  async #call(args: JsonObject, context: unknown, handler: (args: unknown) => unknown): Promise<ToolResult> {
    const request = readRequest(context);
    const sent = sentArguments(this.#name, request.id);
    const caller = await this.#gating.identify(request);
    const { gate, call, done } = await this.#open({ args, sent }, caller);
    const run = new ToolRun(async (approved) =>
      handler(await approvedArgs(approved, args, (changed) => this.#parse(changed))),
    );
    const outcome = await this.#wait(request, { gate, call }, (approved) => run.body(approved));
    // A client that has given up is not told; it may call again.
    if (!isOpen(outcome) && !request.signal.aborted) await done();
    return run.answer(outcome, this.#advice(outcome));
  }

  #advice(outcome: CallerOutcome): string {
    const address = this.#addressOf(outcome);
    const where = address === undefined ? "" : `A person can decide at ${address}. `;
    return `${where}Call ${this.#name} again later with the same arguments to get the outcome of this call.`;
  }

  /** Finds the call that this request is, or asks for it. */
  async #open(given: Arguments, caller: McpCaller): Promise<Called> {
    const { thread, user } = caller;
    const { engine, app, agent } = this.#gating;
    const gate = new ThreadGate({
      engine,
      app,
      thread,
      ...(agent === undefined ? {} : { agent }),
      ...(user === undefined ? {} : { user }),
    });
    for (;;) {
      const id = await this.#find(gate, given, caller);
      const call = this.#callAt(given, id, {
        turn: gate.nonce,
        note: await noteOnEarlier(engine, gate, id),
      });
      const { confirmation } = await gate.propose(call);
      if (confirmation !== undefined) return { gate, call, done: id.done };
      // Nobody is asked, so equal calls are not repeated ones: each of them runs.
      if (await id.done()) return { gate, call, done: async () => true };
    }
  }

  /** Which call it is. An outcome that was not collected in time counts as told. */
  async #find(
    gate: ThreadGate,
    { args: parsed, sent }: Arguments,
    { callId, thread, user }: McpCaller,
  ): Promise<McpCallId> {
    if (callId !== undefined) return namedCall(callId, user);
    const { engine, app, collectWithinMs } = this.#gating;
    // A schema may rename what was sent; its defaults may differ at each parse.
    const args = sent === undefined ? parsed : { sent, parsed: onlySent(sent, parsed) };
    for (;;) {
      const call = await callOfArguments(engine, { app, thread, user, tool: this.#name, args });
      if (!(await isTooLate(engine, gate, { call, collectWithinMs }))) return call;
      await call.done();
    }
  }

  #callAt(
    { args, sent }: Arguments,
    { id, occurrence = 0 }: McpCallId,
    { turn, note }: Pick<FrameworkCall<JsonObject>, "turn" | "note">,
  ): FrameworkCall<JsonObject> {
    const { description } = this.#registered ?? {};
    const { jsonSchema: schema } = this.#shape;
    return {
      tool: {
        name: this.#name,
        ...(description === undefined ? {} : { description }),
        ...(schema === undefined ? {} : { schema }),
      },
      rule: this.#rule,
      args,
      sent,
      id,
      occurrence,
      turn,
      note,
    };
  }

  /** Runs the call once it is allowed, or gives it back as it is when the client should not wait longer. */
  async #wait(
    request: OpenRequest,
    { gate, call }: Pick<Called, "gate" | "call">,
    body: (args: JsonObject) => Promise<JsonValue>,
  ): Promise<CallerOutcome> {
    const { signal } = request;
    const until = performance.now() + this.#gating.waitMs;
    const client = new WaitingClient(this.#gating.server, request);
    try {
      for (;;) {
        const leftMs = Math.max(0, until - performance.now());
        const outcome = await gate.run(call, body, { signal, timeoutMs: leftMs });
        // Its process may be lost: then it is unknown.
        if (outcome.status === "executing") return (await gate.find(call)) ?? outcome;
        if (outcome.status !== "pending" || leftMs === 0) return outcome;
        if (outcome.confirmation !== undefined) client.tell(outcome.confirmation, this.#addressOf(outcome));
        await gate.decided(call, { signal, timeoutMs: Math.min(TELL_MS, leftMs) });
      }
    } finally {
      client.end();
    }
  }

  #addressOf({ status, confirmation }: CallerOutcome): string | undefined {
    return status === "pending" && confirmation !== undefined
      ? this.#gating.inbox?.(confirmation)
      : undefined;
  }

  /** An approver's arguments, as the tool's own schema has them. */
  async #parse(args: JsonObject): Promise<unknown> {
    const parsed = await this.#shape.parse(args);
    if (parsed.ok) return asApproved(args, parsed.value);
    throw new Error(`The approver's arguments do not fit the tool: ${parsed.field}: ${parsed.message}`);
  }

  get #shape(): Shape<unknown> {
    // The SDK has made a schema of it, if it was a record of schemas.
    return readShape(this.#registered?.inputSchema as Parameters<typeof readShape>[0]);
  }
}
