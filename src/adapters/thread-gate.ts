import { randomUUID } from "node:crypto";
import {
  type Acting,
  type CallerBody,
  type CallerOutcome,
  type CallerRef,
  type CallRequest,
  type Confirmation,
  callKey,
  type DecisionRefusal,
  type Engine,
  meets,
  partsOf,
  type WaitOptions,
} from "../engine/index.ts";
import { isJsonObject, type JsonObject } from "../protocol/index.ts";
import type { ToolRule } from "./tool-rule.ts";
import { keptWithoutDefaults } from "./without-defaults.ts";

/** The conversation that an adapter gates, as the program around the framework knows it. */
export interface ThreadOptions {
  readonly engine: Engine;
  /** The app that its calls are listed under. */
  readonly app: string;
  /** Default: the app. */
  readonly agent?: string;
  /** The conversation's id. Your server must have checked that the user may use it. */
  readonly thread: string;
  /** Whom the agent works for, as your server has authenticated them. */
  readonly user?: string;
}

/** A tool, as a framework describes it. */
export interface FrameworkTool {
  readonly name: string;
  readonly description?: string;
  /** JSON Schema of the arguments. */
  readonly schema?: JsonObject;
}

/** A call of a framework's tool, with arguments that the framework has parsed. */
export interface FrameworkCall<Args> {
  readonly tool: FrameworkTool;
  readonly rule: ToolRule<Args>;
  readonly args: Args;
  /** What the model sent, before the framework parsed it, if the adapter gets to see it. */
  readonly sent?: unknown;
  /** The framework's id of the call. */
  readonly id: string;
  /** How many earlier calls of the thread had this id. */
  readonly occurrence?: number;
  /** Names the model's turn that made it. */
  readonly turn: string;
  /** The framework goes on with it: refused with `unknown-call` unless the gate has seen it before. */
  readonly isResumed?: boolean;
  /** Said after the question, also if a policy words that. */
  readonly note?: string | undefined;
}

/** Which call of the thread. */
export type FrameworkCallId = Pick<FrameworkCall<never>, "id" | "occurrence">;

/** A button that somebody pressed in the framework's own front end. */
export interface PressedButton extends FrameworkCallId {
  readonly approved: boolean;
  readonly reason?: string;
  /** The arguments to run instead, if the front end lets people change them. */
  readonly args?: JsonObject;
}

/** What somebody answered. */
export type Pressed = Omit<PressedButton, keyof FrameworkCallId>;

/** What became of a button: the call as it is now, or why it does not count. */
export type ButtonResult =
  | { readonly ok: true; readonly call: CallerOutcome }
  | { readonly ok: false; readonly code: string; readonly message: string };

/** One conversation at the gate: what every adapter asks, looks up, runs and withdraws in the same way. */
export class ThreadGate {
  /** Differs for every use of an adapter, so that turns of different requests are different. */
  readonly nonce: string = randomUUID();
  readonly #options: ThreadOptions;

  constructor(options: ThreadOptions) {
    this.#options = options;
  }

  /** The engine has rules over all calls, so that every tool must pass it. */
  get hasPolicy(): boolean {
    return partsOf(this.#options.engine).policy !== undefined;
  }

  /** Asks, and runs nothing. */
  async propose<Args>(call: FrameworkCall<Args>): Promise<CallerOutcome> {
    return this.#options.engine.callers.propose(await this.#request(call));
  }

  /** Runs the call if it may run: once, even if others try too. */
  async run<Args>(call: FrameworkCall<Args>, body: CallerBody, wait: WaitOptions): Promise<CallerOutcome> {
    return this.#options.engine.callers.run(await this.#request(call), body, wait);
  }

  /** The call, once nobody runs it any more. */
  async finished(call: FrameworkCallId, wait: WaitOptions): Promise<CallerOutcome> {
    return this.#options.engine.callers.finished(this.#ref(call), wait);
  }

  /** The call, once it is decided and nobody runs it, or as it is after the time of `wait`. */
  async decided(call: FrameworkCallId, wait: WaitOptions): Promise<CallerOutcome> {
    return this.#options.engine.callers.decided(this.#ref(call), wait);
  }

  /** The call as it is now, if it was asked. */
  async find(call: FrameworkCallId): Promise<CallerOutcome | undefined> {
    return this.#options.engine.callers.find(this.#ref(call));
  }

  /**
   * Records a button as the decision of the person that the server has authenticated. Only the first question of a call
   * is answered so: the person who pressed it has not seen a later one.
   */
  async press({ id, occurrence, ...pressed }: PressedButton, acting: Acting): Promise<ButtonResult> {
    const call = { id, ...(occurrence === undefined ? {} : { occurrence }) };
    const { confirmation } = (await this.find(call)) ?? {};
    if (confirmation === undefined)
      return { ok: false, code: "unknown-call", message: `Nobody was asked about the call ${call.id}.` };
    if (confirmation.round > 0)
      return {
        ok: false,
        code: "ambiguous",
        message: `People were asked again about ${call.id}. Use the inbox.`,
      };
    return this.answer(confirmation, pressed, acting);
  }

  /** The question with this id, open or not, if it is about a call of this thread. */
  async question(id: string): Promise<Confirmation | undefined> {
    const { engine, thread } = this.#options;
    const { call: asked } = (await partsOf(engine).ledger.load({ confirmation: id })) ?? {};
    if (asked === undefined) return undefined;
    const confirmation = await engine.confirmation(id);
    const call = await engine.callers.find(this.#keyed(confirmation.callId));
    return confirmation.session === thread && call?.id === asked.id ? confirmation : undefined;
  }

  /** Records an answer to exactly this question as the decision of the person that the server has authenticated. */
  async answer(
    question: Pick<Confirmation, "id" | "callId">,
    { approved, reason, args }: Pressed,
    acting: Acting,
  ): Promise<ButtonResult> {
    const { engine } = this.#options;
    const decision = {
      id: question.id,
      confirmed: approved,
      ...(reason === undefined ? {} : { reason }),
      ...(args === undefined ? {} : { args }),
    };
    const [result] = await engine.decide([decision], acting);
    if (result?.ok === false) return refused(result);
    const call = await engine.callers.find(this.#keyed(question.callId));
    return call === undefined
      ? { ok: false, code: "unknown-call", message: `There is no call ${question.callId}.` }
      : { ok: true, call };
  }

  /** Withdraws one call, if it has not started. */
  async withdraw(call: FrameworkCallId, reason: string): Promise<CallerOutcome> {
    return this.#options.engine.callers.cancel(this.#ref(call), reason);
  }

  /** Withdraws everything of the thread that has not started. */
  async cancel(reason: string): Promise<number> {
    const { engine, app, thread } = this.#options;
    return engine.callers.cancelThread({ by: callerOf(app), app, thread }, reason);
  }

  #ref({ id, occurrence }: FrameworkCallId): CallerRef {
    return this.#keyed(callKey(this.#options.thread, id, occurrence));
  }

  #keyed(key: string): CallerRef {
    const { app, thread } = this.#options;
    return { by: callerOf(app), key, in: { app, thread } };
  }

  async #request<Args>(call: FrameworkCall<Args>): Promise<CallRequest> {
    const { app, agent = app, thread, user } = this.#options;
    const { tool, rule, args, sent, id, occurrence, turn, isResumed = false, note } = call;
    const context = { agentName: agent, userId: user ?? app, sessionId: thread };
    return {
      by: { id: callerOf(app), kind: "agent", ...(user === undefined ? {} : { onBehalfOf: user }) },
      app,
      agent,
      thread,
      turn,
      key: callKey(thread, id, occurrence),
      ...(isResumed ? { onlyRepeat: true } : {}),
      tool: tool.name,
      ...(tool.description === undefined ? {} : { description: tool.description }),
      ...(tool.schema === undefined ? {} : { schema: keptWithoutDefaults(tool.schema) }),
      // If they are not JSON, the engine refuses them.
      args: args as JsonObject,
      parsed: true,
      ...(isJsonObject(sent) ? { sent } : {}),
      requireConfirmation: await meets(rule.requireConfirmation ?? true, args, context),
      ...(note === undefined ? {} : { note }),
      ...termsOf(rule, args),
    };
  }
}

/** Nobody can log in with this prefix, so that no user of the API has the calls of an app with the same name. */
function callerOf(app: string): string {
  return `agent:${app}`;
}

function refused({ code, message }: DecisionRefusal): ButtonResult {
  return { ok: false, code, message };
}

/** How people are asked, as far as the rule says. */
function termsOf<Args>(
  rule: ToolRule<Args>,
  args: Args,
): Pick<CallRequest, "hint" | "approvers" | "expiresInMs" | "amendable" | "secrets" | "idempotent"> {
  const { approvers, expiresInMs, amendable, secrets, idempotent } = rule;
  const hint = hintOf(rule, args);
  return {
    ...(hint === undefined ? {} : { hint }),
    ...(approvers === undefined ? {} : { approvers }),
    ...(expiresInMs === undefined ? {} : { expiresInMs }),
    ...(amendable === undefined ? {} : { amendable }),
    ...(secrets === undefined ? {} : { secrets }),
    ...(idempotent === undefined ? {} : { idempotent }),
  };
}

/** The author's question. Their code may throw; people are asked with the default question then. */
function hintOf<Args>({ hint }: ToolRule<Args>, args: Args): string | undefined {
  try {
    return typeof hint === "function" ? hint(args) : hint;
  } catch {
    return undefined;
  }
}
