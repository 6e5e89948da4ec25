import { TaskState } from "@a2a-js/sdk";
import { isJsonArray, type JsonObject, member } from "../../protocol/index.ts";
import { isPause, type Rest, restOf } from "./child-task.ts";
import { isRefusal, type Peer } from "./peer.ts";

/** A task of a remote agent without an open exchange. */
export interface WatchedTask {
  /** What `taskNote` said of it. */
  readonly note: JsonObject;
  readonly signal: AbortSignal;
}

/**
 * Why the pause in the note ended without an answer from here; undefined while the remote agent still waits in it.
 * Throws if the agent cannot be reached, or does not know the task.
 */
export async function decidedAtChild(
  peer: Peer,
  { agent, note, signal }: WatchedTask & { readonly agent: string },
): Promise<string | undefined> {
  const rest = restOf(await peer.task(textIn(note, "task"), signal));
  if (isPause(rest, textIn(note, "pause"))) return undefined;
  return asksStill(rest, idsIn(note))
    ? `partly decided or changed at ${agent}; the rest is asked again`
    : `decided or expired at ${agent}; its task continued without an answer from here`;
}

function asksStill(rest: Rest | undefined, ids: readonly string[]): boolean {
  return rest?.state === "asks" && rest.asks.some(({ id }) => ids.includes(id));
}

/** Cancels a remote task; resolves once it is over there, and throws while it is not. */
export async function callOffTask(peer: Peer, { note, signal }: WatchedTask): Promise<void> {
  const task = textIn(note, "task");
  try {
    await peer.cancel(task, signal);
  } catch (error) {
    if (!isRefusal(error) || (await goesOn(peer, task, signal))) throw error;
  }
}

// A task that is running a call cannot be canceled now, but later; an unknown task is over.
async function goesOn(peer: Peer, id: string, signal: AbortSignal): Promise<boolean> {
  try {
    const { status } = await peer.task(id, signal);
    return status === undefined || !OVER.has(status.state);
  } catch (error) {
    if (isRefusal(error)) return false;
    throw error;
  }
}

const OVER: ReadonlySet<TaskState> = new Set([
  TaskState.TASK_STATE_COMPLETED,
  TaskState.TASK_STATE_FAILED,
  TaskState.TASK_STATE_CANCELED,
  TaskState.TASK_STATE_REJECTED,
]);

function textIn(note: JsonObject, name: string): string {
  const text = member(note, name);
  return typeof text === "string" ? text : "";
}

function idsIn(note: JsonObject): readonly string[] {
  const ids = member(note, "ids");
  return isJsonArray(ids) ? ids.map(String) : [];
}
