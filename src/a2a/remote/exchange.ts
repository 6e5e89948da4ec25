import type { Message, Task } from "@a2a-js/sdk";
import { CallAbandoned, type CallRecord, OutcomeUnknown } from "../../engine/index.ts";
import { type JsonObject, member } from "../../protocol/index.ts";
import type { ForeignContext } from "../../runtime/index.ts";
import { type MessageDraft, type MessagePlace, textPart, toMessage } from "../messages/index.ts";
import { answerDraft } from "./child-answer.ts";
import {
  type Asking,
  answerIn,
  isPause,
  MESSAGE_TOOL,
  pauseDigest,
  type Rest,
  restOf,
} from "./child-task.ts";
import { isRefusal, type Peer } from "./peer.ts";

/** How an exchange with a remote agent ended. */
export type Exchanged = Readonly<{
  task: string;
  context: string;
  rest: Rest;
  /** Did the remote agent accept the decisions, as far as known? Absent if there were none. */
  took?: Taking;
}>;

/** `no`: it had continued without them, or refused them. `perhaps`: an earlier try may have delivered them. */
export type Taking = "yes" | "no" | "perhaps";

const FIRST_WAIT_MS = 50;
const LONGEST_POLL_MS = 2_000;
const LONGEST_RETRY_MS = 15_000;

/**
 * Sends one message to a child and follows its task until that moves no more by itself. The message's id is the call's,
 * so that sending it again after a crash, or when the answer got lost, is sending the same message; the task is then
 * followed again. A child that cannot be reached is tried again until `lostAfterMs` have passed without a word.
 *
 * Throws an error where the child refuses, `OutcomeUnknown` where nobody can say any more what came of it there, and
 * `CallAbandoned` when this process is about to end.
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

  async run(call: CallRecord): Promise<Exchanged> {
    try {
      return call.tool === MESSAGE_TOOL ? await this.#message(call) : await this.#answer(call);
    } catch (error) {
      throw await this.#told(error);
    }
  }

  async #message({ id, args }: CallRecord): Promise<Exchanged> {
    const place = { taskId: "", contextId: textIn(args, "context") };
    const draft: MessageDraft = { id, role: "user", parts: [textPart(textIn(args, "message"))] };
    const sent = await this.#reach(() => this.#sendNow(place, draft));
    if (!isTask(sent)) return { task: "", context: sent.contextId, rest: answerIn(sent) };
    return this.#follow(sent);
  }

  /**
   * Sends decisions if the remote agent still asks for them. If not, what was decided there is final. Checked before
   * each try: a message whose answer was lost may have been accepted, and the agent may ask something else by now.
   */
  async #answer({ id, args }: CallRecord): Promise<Exchanged> {
    this.#task = textIn(args, "task");
    // Empty if there is nothing to send.
    const pause = textIn(args, "pause");
    const place = { taskId: this.#task, contextId: textIn(args, "context") };
    let tries = this.#context.attempt - 1;
    try {
      const { task, sent } = await this.#reach(async () => {
        const now = await this.#read();
        if (!isPause(restOf(now), pause)) return { task: now };
        tries += 1;
        return { sent: await this.#sendNow(place, answerDraft(id, args)) };
      });
      if (task !== undefined) {
        const took = tries > 0 && pause !== "" ? "perhaps" : "no";
        return { ...(await this.#follow(task)), took };
      }
      if (!isTask(sent)) return { task: "", context: sent.contextId, rest: answerIn(sent), took: "yes" };
      return { ...(await this.#follow(sent, pause)), took: "yes" };
    } catch (error) {
      if (!isRefusal(error)) throw error;
      return { ...(await this.#afterRefusal(error, pause)), took: "no" };
    }
  }

  // Sending a message is not interrupted when the run is stopped: without the answer the task's id is not known, and
  // the task could not be canceled.
  async #sendNow(place: MessagePlace, draft: MessageDraft): Promise<Task | Message> {
    const { closing, signal } = this.#context;
    return this.#peer.send(toMessage(place, draft), AbortSignal.any([closing, signal]));
  }

  /** Somebody may have just decided on the remote server. Then that is final. */
  async #afterRefusal(refusal: Error, pause: string): Promise<Exchanged> {
    const task = await this.#read();
    if (!isPause(restOf(task), pause)) return this.#follow(task);
    await this.#giveUp();
    const message = `${this.#agent} refused the decision: ${refusal.message}`;
    return { task: task.id, context: task.contextId, rest: { state: "failed", message } };
  }

  async #follow(first: Task, answered = ""): Promise<Exchanged> {
    const since = Date.now();
    let waitMs = FIRST_WAIT_MS;
    for (let task = first; ; task = await this.#read()) {
      this.#task = task.id;
      const rest = restOf(task);
      // A remote agent may accept an answer first and act on it later.
      if (rest !== undefined && !isPause(rest, answered)) {
        if (rest.state === "unsettled") throw this.#unsettled(rest.message);
        // A task whose question cannot be shown would wait forever; canceling one that is over is harmless.
        if (rest.state === "failed") await this.#giveUp();
        return { task: task.id, context: task.contextId, rest };
      }
      if (rest !== undefined && Date.now() - since > this.#lostAfterMs) {
        throw new OutcomeUnknown(`${this.#agent} received the decision but still asks for it.`);
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
      throw new OutcomeUnknown(`${this.#agent} no longer has the task: ${error.message}`);
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
        if (isRefusal(error) || error instanceof OutcomeUnknown) throw error;
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
    if (this.#context.closing.aborted) throw new CallAbandoned();
    if (this.#signal.aborted) throw new Stopped("the run was stopped");
  }

  // The remote work would continue unseen, so it is stored, and the agent will be told.
  async #told(error: unknown): Promise<unknown> {
    if (error instanceof Stopped && this.#task !== "") {
      await this.#context.note(taskNote(this.#task));
      // Tell it now too, because there may be no worker here.
      this.#giveUp().catch(() => {});
    }
    return error;
  }

  async #giveUp(): Promise<void> {
    if (this.#task === "") return;
    await this.#peer.cancel(this.#task, AbortSignal.timeout(LONGEST_RETRY_MS)).catch(() => {});
  }

  #unsettled(message: string): OutcomeUnknown {
    return new OutcomeUnknown(
      `${this.#agent} waits for a person: ${message} When that is done, run this again; it continues the same task.`,
    );
  }
}

class Stopped extends Error {}

/** The stored note about a remote task: the task, and the pause that people are asked about. */
export function taskNote(task: string, pause?: Asking): JsonObject {
  if (pause === undefined) return { task };
  return { task, pause: pauseDigest(pause), ids: pause.asks.map(({ id }) => id) };
}

function isTask(sent: Task | Message): sent is Task {
  return "status" in sent;
}

function textIn(object: JsonObject, name: string): string {
  const value = member(object, name);
  return typeof value === "string" ? value : "";
}
