import type { Message, Task } from "@a2a-js/sdk";
import { CallLeft, type CallRecord, OutcomeUnknown } from "../engine/index.ts";
import { isJsonArray, isJsonObject, type JsonObject, member } from "../protocol/index.ts";
import type { ForeignContext } from "../runtime/index.ts";
import { answerDraft } from "./child-answer.ts";
import { MESSAGE_TOOL, type Rest, restOf, saidIn } from "./child-task.ts";
import { type MessageDraft, textPart, toMessage } from "./messages.ts";
import { isRefusal, type Peer } from "./peer.ts";

/** How an exchange with a child came to rest. */
export type Exchanged = Readonly<{ task: string; context: string; rest: Rest }>;

const FIRST_WAIT_MS = 50;
const LONGEST_POLL_MS = 2_000;
const LONGEST_RETRY_MS = 15_000;

/**
 * Sends one message to a child and follows its task until that moves no more by itself. The message's id is the call's,
 * so that sending it again after a crash, or when the answer got lost, is sending the same message; the task is then
 * followed again. A child that cannot be reached is tried again until `lostAfterMs` have passed without a word.
 *
 * Throws an error where the child refuses, `OutcomeUnknown` where nobody can say any more what came of it there, and
 * `CallLeft` when this process is about to end.
 */
export class Exchange {
  readonly #peer: Peer;
  readonly #agent: string;
  readonly #lostAfterMs: number;
  readonly #context: ForeignContext;
  readonly #signal: AbortSignal;
  #task = "";

  constructor(
    peer: Peer,
    { agent, lostAfterMs, context }: { agent: string; lostAfterMs: number; context: ForeignContext },
  ) {
    this.#peer = peer;
    this.#agent = agent;
    this.#lostAfterMs = lostAfterMs;
    this.#context = context;
    const { closing, stopped, signal } = context;
    this.#signal = AbortSignal.any([closing, signal, ...(stopped === undefined ? [] : [stopped])]);
  }

  async run({ id, tool, args }: CallRecord): Promise<Exchanged> {
    this.#task = textIn(args, "task");
    const place = { taskId: this.#task, contextId: textIn(args, "context") };
    const isFirst = tool === MESSAGE_TOOL;
    const draft: MessageDraft = isFirst
      ? { id, role: "user", parts: [textPart(textIn(args, "message"))] }
      : answerDraft(id, args);
    try {
      const sent = await this.#reach(() => this.#peer.send(toMessage(place, draft), this.#signal));
      if (!isTask(sent)) return { task: "", context: sent.contextId, rest: saidIn(sent) };
      return await this.#follow(sent, isFirst ? [] : idsIn(args));
    } catch (error) {
      if (isFirst || !isRefusal(error)) throw this.#told(error);
      return this.#afterRefusal(error, idsIn(args));
    }
  }

  /** Somebody may have decided where the child runs. Then that stands, and the task goes on without us. */
  async #afterRefusal(refusal: Error, ids: readonly string[]): Promise<Exchanged> {
    const task = await this.#read();
    const rest = restOf(task);
    if (rest === undefined || !isPause(rest, ids)) return this.#follow(task, []);
    await this.#giveUp();
    throw new Error(`${this.#agent} did not take the decision: ${refusal.message}`);
  }

  async #follow(first: Task, answered: readonly string[]): Promise<Exchanged> {
    const since = Date.now();
    let waitMs = FIRST_WAIT_MS;
    for (let task = first; ; task = await this.#read()) {
      this.#task = task.id;
      const rest = restOf(task);
      // A child may take an answer and act on it only then.
      if (rest !== undefined && !isPause(rest, answered)) {
        if (rest.state === "unsettled") throw this.#unsettled(rest.message);
        // One that cannot be put to anybody would wait for ever; one that is over does not mind.
        if (rest.state === "failed") await this.#giveUp();
        return { task: task.id, context: task.contextId, rest };
      }
      if (rest !== undefined && Date.now() - since > this.#lostAfterMs) {
        throw new OutcomeUnknown(`${this.#agent} was told the decision and asks for it still.`);
      }
      await this.#wait(waitMs);
      waitMs = Math.min(waitMs * 1.5, LONGEST_POLL_MS);
    }
  }

  async #read(): Promise<Task> {
    try {
      return await this.#reach(() => this.#peer.task(this.#task, this.#signal));
    } catch (error) {
      if (!isRefusal(error)) throw error;
      throw new OutcomeUnknown(`${this.#agent} does not know its task any more: ${error.message}`);
    }
  }

  /** Until the other side has answered, whatever it answers. */
  async #reach<T>(work: () => Promise<T>): Promise<T> {
    const since = Date.now();
    for (let waitMs = FIRST_WAIT_MS; ; waitMs = Math.min(waitMs * 2, LONGEST_RETRY_MS)) {
      this.#checkGoing();
      try {
        return await work();
      } catch (error) {
        if (isRefusal(error)) throw error;
        this.#checkGoing();
        if (Date.now() - since > this.#lostAfterMs) {
          const why = error instanceof Error ? error.message : String(error);
          throw new OutcomeUnknown(`${this.#agent} could not be reached for ${this.#lostAfterMs} ms: ${why}`);
        }
      }
      await this.#wait(waitMs);
    }
  }

  async #wait(ms: number): Promise<void> {
    await this.#context.sleep(ms, this.#signal);
    this.#checkGoing();
  }

  #checkGoing(): void {
    if (this.#context.closing.aborted) throw new CallLeft();
    if (this.#signal.aborted) throw new Stopped("the run was stopped");
  }

  // What goes on there after this would go on unseen.
  #told(error: unknown): unknown {
    if (!(error instanceof Stopped)) return error;
    // Nothing waits for it: the run is over, whether or not the child hears of it.
    this.#giveUp().catch(() => {});
    return error;
  }

  async #giveUp(): Promise<void> {
    if (this.#task === "") return;
    await this.#peer.cancel(this.#task, AbortSignal.timeout(LONGEST_RETRY_MS)).catch(() => {});
  }

  #unsettled(message: string): OutcomeUnknown {
    return new OutcomeUnknown(
      `${this.#agent} waits for a person: ${message} Once that is done there, run this again; it goes on with the same task.`,
    );
  }
}

class Stopped extends Error {}

function isTask(sent: Task | Message): sent is Task {
  return "status" in sent;
}

/** Is this the very pause that these ids were asked in? */
function isPause(rest: Rest, ids: readonly string[]): boolean {
  if (rest.state !== "asks" || ids.length === 0) return false;
  return rest.asks.length === ids.length && rest.asks.every(({ id }) => ids.includes(id));
}

function idsIn(args: JsonObject): readonly string[] {
  const decisions = member(args, "decisions");
  if (!isJsonArray(decisions)) return [];
  return decisions.filter(isJsonObject).map((decision) => textIn(decision, "id"));
}

function textIn(object: JsonObject, name: string): string {
  const value = member(object, name);
  return typeof value === "string" ? value : "";
}
