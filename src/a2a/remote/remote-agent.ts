import type { AgentCard } from "@a2a-js/sdk";
import {
  type Approvers,
  CallEnd,
  type CallRecord,
  type CardNotes,
  checkAsking,
  storableText,
} from "../../engine/index.ts";
import {
  CountersignError,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  member,
} from "../../protocol/index.ts";
import {
  type AnyAgent,
  ASK_USER,
  answersSchema,
  askedQuestions,
  type ForeignAgent,
  type ForeignContext,
  type ForeignMove,
  type ForeignProgress,
  type Hooks,
} from "../../runtime/index.ts";
import { answerArgs, followArgs } from "./child-answer.ts";
import { ANSWER_TOOL, type ChildAsk, MESSAGE_TOOL, type PauseForm } from "./child-task.ts";
import { callOffTask, decidedAtChild } from "./child-watch.ts";
import { Exchange, type Exchanged, taskNote } from "./exchange.ts";
import { handedOver, toBeHanded } from "./hand-over.ts";
import { Peer, type PeerHeaders } from "./peer.ts";

/** Options of {@link RemoteAgent}. */
export interface RemoteAgentOptions {
  /** Its name here. */
  readonly name: string;
  /** Its description for models that may hand over to it. */
  readonly description?: string;
  /** Where its card is, or the card itself. */
  readonly card: URL | AgentCard;
  /** Headers of every request to it. Their login needs the right to decide there. */
  readonly headers?: PeerHeaders;
  /** Who may decide its calls here. Default: the requester. The remote server has its own rules too. */
  readonly approvers?: Approvers;
  /** How long it may be unreachable before a person must settle the call. Default: a day. */
  readonly lostAfterMs?: number;
}

const KNOWN_OPTIONS: ReadonlySet<string> = new Set<keyof RemoteAgentOptions>([
  "name",
  "description",
  "card",
  "headers",
  "approvers",
  "lostAfterMs",
]);

const A_DAY_MS = 24 * 60 * 60 * 1000;

/**
 * An agent on another server that speaks A2A; a sub-agent, or used with `agentTool`. When it asks for approvals, the
 * run pauses here: each of its calls is a confirmation of this ledger, and once all of a pause are decided, the
 * decisions are handed over together, under its ids and once. Nothing that it says is a decision here.
 *
 * If a process dies, here or there, the exchange continues with the same task. If it cannot (the task no longer exists
 * there, or the server was unreachable for too long), the call becomes `unknown`.
 */
export class RemoteAgent implements ForeignAgent {
  readonly kind = "remote" as const;
  readonly name: string;
  readonly description: string;
  readonly subAgents: readonly AnyAgent[] = [];
  readonly hooks: Hooks = {};
  readonly #peer: Peer;
  readonly #approvers: Approvers;
  readonly #lostAfterMs: number;

  constructor(options: RemoteAgentOptions) {
    const unknown = Object.keys(options).find((name) => !KNOWN_OPTIONS.has(name));
    if (unknown !== undefined) throw invalid(`RemoteAgent has no option "${unknown}".`);
    if (options.name === "" || options.name === "user")
      throw invalid(`"${options.name}" cannot be the name of an agent.`);
    checkAsking(`The remote agent ${options.name}`, options);
    this.name = options.name;
    this.description = options.description ?? "";
    this.#peer = new Peer({ card: options.card, headers: options.headers });
    this.#approvers = options.approvers ?? "requester";
    this.#lostAfterMs = options.lostAfterMs ?? A_DAY_MS;
  }

  async next(progress: ForeignProgress): Promise<ForeignMove> {
    const { cursor, calls } = progress;
    const [first] = calls;
    if (first === undefined) {
      const [message, context] = [await progress.words(), await progress.remembered()];
      const args = { message, ...(typeof context === "string" ? { context } : {}) };
      return { kind: "do", tool: MESSAGE_TOOL, args, gated: true };
    }
    const note = noteIn(cursor);
    if (isExchange(first.call)) return this.#afterExchange(first.call, note);
    if (note?.rest.state !== "asks") throw new Error("The stored frame has no question.");
    const { task, context, rest } = note;
    const answer = progress.decidedElsewhere ? followArgs(calls) : answerArgs(rest, calls);
    return { kind: "do", tool: ANSWER_TOOL, args: { task, context, ...answer }, gated: false };
  }

  async perform(call: CallRecord, context: ForeignContext): Promise<JsonValue | CallEnd> {
    // Approved: the decisions of a pause are sent together, when the last is made.
    if (!isExchange(call)) return toBeHanded(this.name);
    const options = { agent: this.name, lostAfterMs: this.#lostAfterMs, context };
    const exchanged = await new Exchange(this.#peer, options).run(call);
    const { rest, task } = exchanged;
    if (rest.state === "failed" && call.tool === MESSAGE_TOOL) throw new Error(rest.message);
    // Stored before anybody is asked, so that later decisions and stops are handled.
    if (rest.state === "asks") await context.note(taskNote(task, rest));
    const note: Note = { call: call.id, ...exchanged };
    const learned = handedOver(this.name, call, exchanged);
    return new CallEnd({ result: resultOf(exchanged), cursor: { remote: note }, learned });
  }

  /** If somebody decided on the remote server, the open questions here are withdrawn. */
  async decidedElsewhere(note: JsonObject, signal: AbortSignal): Promise<string | undefined> {
    return decidedAtChild(this.#peer, { agent: this.name, note, signal });
  }

  async callOff(note: JsonObject, signal: AbortSignal): Promise<void> {
    await callOffTask(this.#peer, { note, signal });
  }

  #afterExchange({ id, status, result }: CallRecord, note: Note | undefined): ForeignMove {
    if (status !== "succeeded") return { kind: "fail", message: errorIn(result) ?? `The call is ${status}.` };
    // A person has settled it: that replaces the remote agent's answer.
    if (note?.call !== id) return { kind: "say", text: textOf(result) };
    const { rest, context } = note;
    if (rest.state === "said") return { kind: "say", text: rest.text, remember: context };
    if (rest.state !== "asks") return { kind: "fail", message: rest.message };
    const questions = rest.asks.map((ask) => ({
      tool: storableText(ask.name),
      args: ask.args,
      approvers: this.#approvers,
      ...(rest.agent === undefined ? {} : { source: `${this.name} / ${rest.agent}` }),
      notes: this.#notes(ask, note, rest.form),
    }));
    return { kind: "ask", questions };
  }

  #notes(ask: ChildAsk, { task, context }: Note, form: PauseForm): CardNotes {
    return {
      ...(ask.hint === "" ? {} : { hint: ask.hint }),
      remote: { agent: this.name, task, context },
      ...(form === "questions"
        ? { askedByTool: true, question: ASK_USER, schema: answersSchema(askedQuestions(ask.args)) }
        : {}),
    };
  }
}

/** What is stored on the frame: how the exchange of this call ended. */
type Note = Exchanged & Readonly<{ call: string }>;

// Written only by `perform`.
function noteIn(cursor: JsonValue): Note | undefined {
  const note = isJsonObject(cursor) ? member(cursor, "remote") : undefined;
  return isJsonObject(note) ? (note as unknown as Note) : undefined;
}

function resultOf({ rest, task }: Exchanged): JsonObject {
  switch (rest.state) {
    case "said":
      return { text: rest.text };
    case "asks":
      return { state: "input-required", task };
    case "failed":
    case "unsettled":
      return { error: rest.message };
  }
}

function isExchange({ tool }: CallRecord): boolean {
  return tool === MESSAGE_TOOL || tool === ANSWER_TOOL;
}

function errorIn(result: JsonValue | undefined): string | undefined {
  const error = isJsonObject(result) ? member(result, "error") : undefined;
  return typeof error === "string" ? error : undefined;
}

function textOf(result: JsonValue | undefined): string {
  const text = isJsonObject(result) ? member(result, "text") : result;
  return typeof text === "string" ? text : JSON.stringify(result ?? null);
}

function invalid(message: string): CountersignError {
  return new CountersignError("invalid-option", message);
}
