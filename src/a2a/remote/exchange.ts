import type { Message, Task } from "@a2a-js/sdk";
import { CallAbandoned, type CallRecord, OutcomeUnknown } from "../../engine/index.ts";
import { isJsonArray, isJsonObject, type JsonObject, member } from "../../protocol/index.ts";
import type { ForeignContext } from "../../runtime/index.ts";
import { type MessageDraft, type MessagePlace, textPart, toMessage } from "../messages/index.ts";
import { answerDraft } from "./child-answer.ts";
import { MESSAGE_TOOL, type Rest, restOf, saidIn } from "./child-task.ts";
import { isRefusal, type Peer } from "./peer.ts";

/** How an exchange with a child came to rest. */
export type Exchanged = Readonly<{
  task: string;
  context: string;
  rest: Rest;
  /** Were decisions taken over, as far as that is known here? Absent where there were none. */
  took?: Taking;
}>;

/** `no`: it had gone on without them, or refused them. `perhaps`: an earlier try may have handed them over. */
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
    if (!isTask(sent)) return { task: "", context: sent.contextId, rest: saidIn(sent) };
    return this.#follow(sent, []);
  }

  /**
   * Hands decisions over where the child still asks for them. Where it does not, what was decided there stands. It is
   * looked at before each try: one whose answer got lost may have been taken, and the child asks something else by now.
   */
  async #answer({ id, args }: CallRecord): Promise<Exchanged> {
    this.#task = textIn(args, "task");
    const ids = idsIn(args);
    const place = { taskId: this.#task, contextId: textIn(args, "context") };
    let tries = this.#context.attempt - 1;
    try {
      const { task, sent } = await this.#reach(async () => {
        const now = await this.#read();
        if (!isPause(restOf(now), ids)) return { task: now };
        tries += 1;
        return { sent: await this.#sendNow(place, answerDraft(id, args)) };
      });
      if (task !== undefined) {
        const took = tries > 0 && ids.length > 0 ? "perhaps" : "no";
        return { ...(await this.#follow(task, [])), took };
      }
      if (!isTask(sent)) return { task: "", context: sent.contextId, rest: saidIn(sent), took: "yes" };
      return { ...(await this.#follow(sent, ids)), took: "yes" };
    } catch (error) {
      if (!isRefusal(error)) throw error;
      return { ...(await this.#afterRefusal(error, ids)), took: "no" };
    }
  }

  // A message that is under way is not broken off when the run is stopped: without its answer nobody knows the task that
  // it began, and so nobody could call it off.
  async #sendNow(place: MessagePlace, draft: MessageDraft): Promise<Task | Message> {
    const { closing, signal } = this.#context;
    return this.#peer.send(toMessage(place, draft), AbortSignal.any([closing, signal]));
  }

  /** Somebody may have decided where the child runs in this very moment. Then that stands. */
  async #afterRefusal(refusal: Error, ids: readonly string[]): Promise<Exchanged> {
    const task = await this.#read();
    if (!isPause(restOf(task), ids)) return this.#follow(task, []);
    await this.#giveUp();
    const message = `${this.#agent} refused the decision: ${refusal.message}`;
    return { task: task.id, context: task.contextId, rest: { state: "failed", message } };
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

  // What goes on there after this would go on unseen: it is noted, so that the child hears of it for certain.
  async #told(error: unknown): Promise<unknown> {
    if (error instanceof Stopped && this.#task !== "") {
      await this.#context.note(taskNote(this.#task, []));
      // Without a worker here nobody would tell it now.
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

/** What is noted of a child's task while it goes on without us: the task, and the pause that people are asked about. */
export function taskNote(task: string, ids: readonly string[]): JsonObject {
  return { task, ids };
}

function isTask(sent: Task | Message): sent is Task {
  return "status" in sent;
}

/** Is this the very pause that these ids were asked in? */
export function isPause(rest: Rest | undefined, ids: readonly string[]): boolean {
  if (rest?.state !== "asks" || ids.length === 0) return false;
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
