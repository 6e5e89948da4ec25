import { type ListTasksRequest, type ListTasksResponse, TaskState } from "@a2a-js/sdk";
import type { Ledger, SessionRecord } from "../../engine/index.ts";
import { refused } from "../messages/index.ts";
import { readTask, type TaskView } from "./read-task.ts";
import { type TaskRef, taskIdOf } from "./task-id.ts";
import { statusOf } from "./to-task.ts";

const USUAL_PAGE = 50;
const LARGEST_PAGE = 100;

export interface TaskPage extends Omit<ListTasksResponse, "tasks"> {
  readonly views: readonly TaskView[];
}

/** The owner's tasks, most recently changed first. Reads every session of the owner, so it is slow. */
export async function listTasks(
  ledger: Ledger,
  owner: { readonly app: string; readonly user: string },
  request: ListTasksRequest,
): Promise<TaskPage> {
  const pageSize = request.pageSize ?? USUAL_PAGE;
  if (!Number.isInteger(pageSize) || pageSize < 1 || pageSize > LARGEST_PAGE) {
    throw refused("malformed-request", `pageSize must be from 1 to ${LARGEST_PAGE}.`);
  }
  const sorted = (await wantedTasks(ledger, owner, request)).toSorted(
    (one, other) => movedAt(other) - movedAt(one) || (taskIdOf(one.ref) < taskIdOf(other.ref) ? 1 : -1),
  );
  const from = pageStart(sorted, request.pageToken);
  const views = sorted.slice(from, from + pageSize);
  const last = views.at(-1);
  const nextPageToken = last !== undefined && from + pageSize < sorted.length ? taskIdOf(last.ref) : "";
  return { views, nextPageToken, pageSize, totalSize: sorted.length };
}

async function wantedTasks(
  ledger: Ledger,
  owner: { readonly app: string; readonly user: string },
  request: ListTasksRequest,
): Promise<readonly TaskView[]> {
  const found: TaskView[] = [];
  for (const session of await sessionsOf(ledger, owner, request.contextId)) {
    for (const ref of await tasksIn(ledger, session)) {
      const view = await readTask(ledger, ref);
      if (view !== undefined && isWanted(view, request)) found.push(view);
    }
  }
  return found;
}

/** A page begins after the task that its token names. */
function pageStart(tasks: readonly TaskView[], pageToken: string): number {
  const before = tasks.findIndex(({ ref }) => taskIdOf(ref) === pageToken);
  if (before >= 0 || pageToken === "") return before + 1;
  throw refused("malformed-request", `Invalid pageToken ${pageToken}. Start again without a pageToken.`);
}

async function sessionsOf(
  ledger: Ledger,
  owner: { readonly app: string; readonly user: string },
  contextId: string,
): Promise<readonly SessionRecord[]> {
  if (contextId !== "") {
    const session = (await ledger.load({ session: { ...owner, id: contextId } }))?.session;
    return session === undefined || session.deletedAt !== undefined ? [] : [session];
  }
  const found: SessionRecord[] = [];
  for (let cursor: string | undefined; ; ) {
    const page = await ledger.sessions(owner, cursor === undefined ? {} : { cursor });
    found.push(...page.items);
    if (page.next === undefined) return found;
    cursor = page.next;
  }
}

/** A run begins with the first of its events, which is what the user said. */
async function tasksIn(ledger: Ledger, { key }: SessionRecord): Promise<readonly TaskRef[]> {
  const seen = new Set<string>();
  const refs: TaskRef[] = [];
  for (const [index, { invocationId, author, imported }] of (await ledger.events(key)).entries()) {
    // Imported events did not run here.
    if (imported !== undefined || seen.has(invocationId)) continue;
    seen.add(invocationId);
    if (author === "user") refs.push({ session: key, seq: index + 1, invocation: invocationId });
  }
  return refs;
}

function isWanted(view: TaskView, { status, statusTimestampAfter }: ListTasksRequest): boolean {
  if (status !== TaskState.TASK_STATE_UNSPECIFIED && statusOf(view, true).state !== status) return false;
  return statusTimestampAfter === undefined || movedAt(view) >= Date.parse(statusTimestampAfter);
}

function movedAt({ events }: TaskView): number {
  return events.at(-1)?.timestamp ?? 0;
}
