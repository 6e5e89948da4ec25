import { type Artifact, type Message, type Task, TaskState, type TaskStatus } from "@a2a-js/sdk";
import { isNested } from "../../runtime/index.ts";
import {
  askOf,
  dataPartRequest,
  hitlRequest,
  type MessagePlace,
  pauseNow,
  textPart,
  toMessage,
  unknownNotice,
} from "../messages/index.ts";
import { type HistoryForm, RunHistory } from "./history.ts";
import { spokenIn, type TaskPhase, type TaskView } from "./read-task.ts";
import { taskIdOf } from "./task-id.ts";

/** What the protocol calls the phases. */
export const STATES: { readonly [phase in TaskPhase]: TaskState } = {
  working: TaskState.TASK_STATE_WORKING,
  waiting: TaskState.TASK_STATE_INPUT_REQUIRED,
  completed: TaskState.TASK_STATE_COMPLETED,
  failed: TaskState.TASK_STATE_FAILED,
  canceled: TaskState.TASK_STATE_CANCELED,
};

/** Where a task's messages belong. */
export function placeOf({ ref, session }: Pick<TaskView, "ref" | "session">): MessagePlace {
  return { taskId: taskIdOf(ref), contextId: session.id };
}

/** Which part of a task is asked for. */
export interface TaskForm extends Pick<HistoryForm, "optedIn"> {
  /** The newest messages, up to this number. Default: all. */
  readonly historyLength?: number | undefined;
}

/** A task as this client gets it. */
export function toTask(view: TaskView, form: TaskForm): Task {
  const place = placeOf(view);
  const runHistory = new RunHistory({ place, optedIn: form.optedIn });
  runHistory.learn(view.events);
  const open = new Set(view.phase === "waiting" ? view.open.map(({ confirmation }) => confirmation.id) : []);
  const history = view.events.flatMap((event) => runHistory.messages(event, open));
  return {
    id: place.taskId,
    contextId: place.contextId,
    status: statusOf(view, form.optedIn),
    artifacts: artifactsOf(view),
    history: newest(history, form.historyLength),
    metadata: undefined,
  };
}

function newest(history: readonly Message[], length: number | undefined): Message[] {
  if (length === undefined) return [...history];
  return length <= 0 ? [] : history.slice(-length);
}

/** A task's status, with its open questions. */
export function statusOf(view: TaskView, optedIn: boolean): TaskStatus {
  const changedAt = view.events.at(-1)?.timestamp ?? view.session.updatedAt;
  return {
    state: STATES[view.phase],
    message: statusMessage(view, optedIn),
    timestamp: new Date(changedAt).toISOString(),
  };
}

function statusMessage(view: TaskView, optedIn: boolean): Message | undefined {
  const place = placeOf(view);
  if (view.phase === "waiting") {
    const pause = pauseNow(view.open);
    if (pause === undefined) return unknownNotice(place, view.unknown);
    return optedIn
      ? hitlRequest(place, pause, view.open)
      : dataPartRequest(place, view.open.map(askOf), view.open);
  }
  if (view.phase !== "failed" && view.phase !== "canceled") return undefined;
  const failure = view.events.findLast((event) => event.errorCode !== undefined && !isNested(event));
  const text = failure?.errorMessage ?? "The run was stopped.";
  return toMessage(place, {
    id: `end-${failure?.id ?? place.taskId}`,
    role: "agent",
    parts: [textPart(text)],
  });
}

/** The agent's text as the artifact. */
const ANSWER_ARTIFACT = "answer";

export function answerArtifact(text: string): Artifact {
  return {
    artifactId: ANSWER_ARTIFACT,
    name: "",
    description: "",
    parts: [textPart(text)],
    metadata: undefined,
    extensions: [],
  };
}

function artifactsOf({ events }: TaskView): Artifact[] {
  const text = spokenIn(events);
  return text === "" ? [] : [answerArtifact(text)];
}
