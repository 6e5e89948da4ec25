import { randomUUID } from "node:crypto";
import type {
  AgentCard,
  CancelTaskRequest,
  GetTaskRequest,
  ListTasksRequest,
  ListTasksResponse,
  Message,
  SendMessageRequest,
  StreamResponse,
  SubscribeToTaskRequest,
  Task,
} from "@a2a-js/sdk";
import { PushNotificationNotSupportedError } from "@a2a-js/sdk/errors";
import type { A2ARequestHandler } from "@a2a-js/sdk/server";
import { type Engine, type Principal, valueDigest } from "../../engine/index.ts";
import { type JsonValue, toJsonValue } from "../../protocol/index.ts";
import type { Pace, Runner } from "../../runtime/index.ts";
import { type Incoming, noTask, readIncoming, refused, toA2aError, unsupported } from "../messages/index.ts";
import {
  cancelTask,
  type Following,
  followTask,
  listTasks,
  parseTaskId,
  readTask,
  rememberShown,
  startedTask,
  type TaskRef,
  type TaskView,
  toTask,
  untilChanged,
  untilPaused,
} from "../tasks/index.ts";
import { checkUse, noteRefusals, VIA } from "./access.ts";
import { takeAnswer } from "./take-answer.ts";

/** One request's caller, as the transport and the server in front know them. */
export interface Caller {
  readonly principal: Principal;
  readonly optedIn: boolean;
  readonly signal: AbortSignal;
  readonly headers: Headers;
  readonly takeTurn: () => Promise<() => void>;
}

const LONGEST_ID = 255;

export interface HandlerOptions {
  readonly runner: Runner;
  readonly decisions: boolean;
  readonly card: (whole: boolean) => Promise<AgentCard>;
  readonly report: (error: unknown) => void;
  /** Limits how many callers that follow waiting tasks read the ledger at once. */
  readonly pace: Pace;
}

/** How many waiting tasks one caller may follow at a time. */
const MOST_FOLLOWED = 200;

/**
 * The protocol's operations for one caller and one app, on its Runner. Stateless: a task is read from the ledger each
 * time, so that any server on the database can answer, before and after a restart.
 */
export class RequestHandler implements A2ARequestHandler {
  readonly #options: HandlerOptions;
  readonly #caller: Caller;

  constructor(options: HandlerOptions, caller: Caller) {
    this.#options = options;
    this.#caller = caller;
  }

  async getAgentCard(): Promise<AgentCard> {
    return this.#told(() => this.#options.card(false));
  }

  async getAuthenticatedExtendedAgentCard(): Promise<AgentCard> {
    return this.#told(() => this.#options.card(true));
  }

  async sendMessage(request: SendMessageRequest): Promise<Task> {
    return this.#told(async () => {
      const { configuration } = request;
      const view = await this.#take(request);
      const wait = configuration?.returnImmediately !== true;
      const last = wait ? await untilPaused(await this.#following(), view) : view;
      return this.#show(last, configuration?.historyLength);
    });
  }

  sendMessageStream(request: SendMessageRequest): AsyncGenerator<StreamResponse, void, undefined> {
    return this.#stream(async () => this.#take(request));
  }

  async getTask({ id, historyLength }: GetTaskRequest): Promise<Task> {
    return this.#toldInTurn(async () => {
      checkUse(this.#caller.principal, "read");
      return this.#show(await this.#find(id), historyLength);
    });
  }

  async listTasks(request: ListTasksRequest): Promise<ListTasksResponse> {
    return this.#toldInTurn(async () => {
      checkUse(this.#caller.principal, "read");
      const { ledger } = await this.#engine();
      const owner = { app: this.#options.runner.app, user: this.#caller.principal.id };
      const form = { optedIn: this.#caller.optedIn, historyLength: request.historyLength ?? 0 };
      return listTasks(ledger, { owner, request }, (view) => {
        // Not remembered as shown: a bare word is only for a task that was read by itself.
        const task = toTask(view, form);
        return request.includeArtifacts === true ? task : { ...task, artifacts: [] };
      });
    });
  }

  async cancelTask({ id }: CancelTaskRequest): Promise<Task> {
    return this.#told(async () => {
      checkUse(this.#caller.principal, "run");
      const view = await this.#find(id);
      await cancelTask(await this.#engine(), view, this.#caller.principal);
      return this.#show((await this.#read(view.ref)) ?? view);
    });
  }

  /** Sends the task's state, then its changes. A waiting task is followed until people have decided. */
  resubscribe({ id }: SubscribeToTaskRequest): AsyncGenerator<StreamResponse, void, undefined> {
    return this.#stream(async () => {
      checkUse(this.#caller.principal, "read");
      if (this.#options.pace.count(this.#caller.principal) >= MOST_FOLLOWED)
        throw refused(
          "rate-limited",
          `You follow ${MOST_FOLLOWED} tasks already. End some, or get the task.`,
        );
      const view = await this.#find(id);
      if (view.phase === "working" || view.phase === "waiting") return view;
      throw unsupported(`The task ${id} has ended (${view.phase}). Get it instead.`);
    }, "waiting-too");
  }

  async createTaskPushNotificationConfig(): Promise<never> {
    throw new PushNotificationNotSupportedError();
  }

  async getTaskPushNotificationConfig(): Promise<never> {
    throw new PushNotificationNotSupportedError();
  }

  async listTaskPushNotificationConfigs(): Promise<never> {
    throw new PushNotificationNotSupportedError();
  }

  async deleteTaskPushNotificationConfig(): Promise<never> {
    throw new PushNotificationNotSupportedError();
  }

  /** Takes a message: text starts a task, an answer continues one. */
  async #take({ message, configuration }: SendMessageRequest): Promise<TaskView> {
    if (message === undefined || message.messageId === "" || message.messageId.length > LONGEST_ID) {
      throw refused(
        "malformed-request",
        `The request needs a message with a messageId of up to ${LONGEST_ID} characters.`,
      );
    }
    if (message.contextId.length > LONGEST_ID) {
      throw refused("malformed-request", `A contextId can have up to ${LONGEST_ID} characters.`);
    }
    if (configuration?.taskPushNotificationConfig !== undefined)
      throw new PushNotificationNotSupportedError();
    const incoming = readIncoming(message, this.#caller.optedIn);
    if (incoming.kind !== "words") return this.#takeAnswer(message, incoming);
    checkUse(this.#caller.principal, "run");
    if (message.taskId !== "") {
      const { phase } = await this.#find(message.taskId);
      throw unsupported(refusedWords(phase));
    }
    return this.#begin(message, incoming);
  }

  async #begin(message: Message, { content }: Extract<Incoming, { kind: "words" }>): Promise<TaskView> {
    const { runner } = this.#options;
    const { principal, headers: requestHeaders } = this.#caller;
    const { ledger } = await this.#engine();
    const started = await runner.begin({
      userId: principal.id,
      sessionId: message.contextId === "" ? randomUUID() : message.contextId,
      message: content,
      by: principal,
      via: VIA,
      requestHeaders,
      once: {
        principal: `${principal.kind}:${principal.id}`,
        route: `a2a.${runner.app}`,
        key: message.messageId,
        requestDigest: valueDigest(ledger.digestKey, contentOf(message)),
      },
    });
    const view = await this.#read(startedTask(started));
    if (view === undefined) throw refused("session-deleted", "The context was deleted in the meantime.");
    return view;
  }

  async #takeAnswer(message: Message, answer: Exclude<Incoming, { kind: "words" }>): Promise<TaskView> {
    const { taskId, contextId, messageId } = message;
    const engine = await this.#engine();
    const { principal } = this.#caller;
    if (taskId === "") throw refused("malformed-decision", "An answer must name its task.");
    const view = await this.#find(taskId, "answers");
    if (contextId !== "" && contextId !== view.session.id) {
      throw refused("malformed-decision", `The task ${taskId} does not belong to the context ${contextId}.`);
    }
    const digest = valueDigest(engine.ledger.digestKey, contentOf(message));
    const { decisions } = this.#options;
    await takeAnswer(engine, { answer, view, principal, messageId, digest }, { decisions });
    // From its state before the answer, so that changes caused by the answer are sent too.
    return { ...((await this.#read(view.ref)) ?? view), known: view.known };
  }

  /** The caller's task; for anyone else it does not exist. An attempt to answer another's task is journalled. */
  async #find(taskId: string, intent?: "answers"): Promise<TaskView> {
    const ref = parseTaskId(taskId);
    const view = ref === undefined ? undefined : await this.#read(ref);
    if (view === undefined || view.session.app !== this.#options.runner.app) throw noTask(taskId);
    const { principal } = this.#caller;
    if (view.session.user === principal.id) return view;
    if (intent === "answers") {
      await noteRefusals(await this.#engine(), view.open, { by: principal, code: "not-an-approver" });
    }
    throw noTask(taskId);
  }

  async #show(view: TaskView, historyLength?: number): Promise<Task> {
    const { ledger } = await this.#engine();
    const { optedIn } = this.#caller;
    if (!optedIn && view.phase === "waiting") await rememberShown(ledger, view);
    return toTask(view, { optedIn, historyLength });
  }

  async *#stream(
    start: () => Promise<TaskView>,
    until?: "waiting-too",
  ): AsyncGenerator<StreamResponse, void, undefined> {
    try {
      const view = await start();
      yield { payload: { $case: "task", value: await this.#show(view) } };
      const following = await this.#following();
      const isWaiting = until === "waiting-too" && view.phase === "waiting";
      const moved = isWaiting ? await this.#untilChanged(following, view) : view;
      if (moved !== undefined) yield* followTask(following, { ...moved, known: view.known });
    } catch (error) {
      throw toA2aError(error, this.#options.report);
    }
  }

  async #untilChanged(following: Following, view: TaskView): Promise<TaskView | undefined> {
    const waiting = this.#options.pace.begin(this.#caller.principal);
    return untilChanged({ ...following, waiting }, view).finally(() => waiting.end());
  }

  /** For what may read a whole session. */
  async #toldInTurn<T>(work: () => Promise<T>): Promise<T> {
    const leave = await this.#caller.takeTurn();
    return this.#told(work).finally(leave);
  }

  async #told<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      throw toA2aError(error, this.#options.report);
    }
  }

  async #read(ref: TaskRef): Promise<TaskView | undefined> {
    return readTask((await this.#engine()).ledger, ref);
  }

  async #following(): Promise<Following> {
    const { optedIn, signal } = this.#caller;
    return { runner: this.#options.runner, ledger: (await this.#engine()).ledger, optedIn, signal };
  }

  async #engine(): Promise<Engine> {
    return this.#options.runner.engine();
  }
}

function refusedWords(phase: TaskView["phase"]): string {
  if (phase === "waiting") {
    return "The task waits for decisions, and text is not a decision. To send a message, use only the contextId.";
  }
  if (phase === "working")
    return "The task is still running. Wait for it, or send the message with only the contextId.";
  return `The task has ended (${phase}). To continue, send the message with only the contextId.`;
}

/** All of a message that makes it the one it is. */
function contentOf({ contextId, taskId, parts, metadata = {} }: Message): JsonValue {
  const json = toJsonValue(JSON.parse(JSON.stringify({ contextId, taskId, parts, metadata })) as unknown);
  if (!json.ok) throw refused("malformed-request", json.message);
  return json.value;
}
