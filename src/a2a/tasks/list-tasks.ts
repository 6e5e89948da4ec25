import { type ListTasksRequest, type ListTasksResponse, type Task, TaskState } from "@a2a-js/sdk";
import { eachOf, type Ledger, type SessionRecord } from "../../engine/index.ts";
import type { StoredEvent } from "../../protocol/index.ts";
import { refused } from "../messages/index.ts";
import { beginsTask, currentState, Ending, eventsAfter, readTask, type TaskView } from "./read-task.ts";
import { type TaskRef, taskIdOf } from "./task-id.ts";
import { STATES } from "./to-task.ts";

const USUAL_PAGE = 50;
const LARGEST_PAGE = 100;
/** A page ends early where it would hold more. */
const MOST_BYTES = 1_000_000;

interface Owner {
  readonly app: string;
  readonly user: string;
}

/**
 * The owner's tasks, most recently changed first. Reads every session of the owner, so it is slow; but it keeps only
 * where tasks are, and reads those of the page one by one.
 */
export async function listTasks(
  ledger: Ledger,
  { owner, request }: { readonly owner: Owner; readonly request: ListTasksRequest },
  show: (view: TaskView) => Task,
): Promise<ListTasksResponse> {
  const pageSize = request.pageSize ?? USUAL_PAGE;
  if (!Number.isInteger(pageSize) || pageSize < 1 || pageSize > LARGEST_PAGE) {
    throw refused("malformed-request", `pageSize must be from 1 to ${LARGEST_PAGE}.`);
  }
  const sorted = (await wantedTasks(ledger, owner, request)).toSorted(
    (one, other) => other.movedAt - one.movedAt || (taskIdOf(one.ref) < taskIdOf(other.ref) ? 1 : -1),
  );
  const from = pageStart(sorted, request.pageToken);
  const { tasks, read } = await readPage(ledger, sorted.slice(from, from + pageSize), show);
  const last = sorted[from + read - 1];
  const nextPageToken = last !== undefined && from + read < sorted.length ? taskIdOf(last.ref) : "";
  return { tasks, nextPageToken, pageSize, totalSize: sorted.length };
}

/** As many of these tasks as a page may hold, and how many were read for it. */
async function readPage(
  ledger: Ledger,
  wanted: readonly FoundTask[],
  show: (view: TaskView) => Task,
): Promise<{ readonly tasks: Task[]; readonly read: number }> {
  const tasks: Task[] = [];
  let bytes = 0;
  for (const [read, { ref }] of wanted.entries()) {
    const view = await readTask(ledger, ref);
    // Deleted meanwhile.
    if (view === undefined) continue;
    const task = show(view);
    bytes += Buffer.byteLength(JSON.stringify(task));
    if (bytes > MOST_BYTES && tasks.length > 0) return { tasks, read };
    tasks.push(task);
  }
  return { tasks, read: wanted.length };
}

/** Where a task is, and when it last changed. */
interface FoundTask {
  readonly ref: TaskRef;
  readonly movedAt: number;
}

async function wantedTasks(
  ledger: Ledger,
  owner: Owner,
  { contextId, status, statusTimestampAfter }: ListTasksRequest,
): Promise<readonly FoundTask[]> {
  const since = statusTimestampAfter === undefined ? undefined : Date.parse(statusTimestampAfter);
  const found: FoundTask[] = [];
  for await (const session of sessionsOf(ledger, owner, contextId)) {
    for (const { ref, movedAt, ending } of await runsIn(ledger, session.key)) {
      if (since !== undefined && !(movedAt >= since)) continue;
      if (status !== TaskState.TASK_STATE_UNSPECIFIED) {
        const { phase = ending.phase } = await currentState(ledger, session, ref.invocation);
        if (STATES[phase] !== status) continue;
      }
      found.push({ ref, movedAt });
    }
  }
  return found;
}

/** A page begins after the task that its token names. */
function pageStart(tasks: readonly FoundTask[], pageToken: string): number {
  const before = tasks.findIndex(({ ref }) => taskIdOf(ref) === pageToken);
  if (before >= 0 || pageToken === "") return before + 1;
  throw refused("malformed-request", `Invalid pageToken ${pageToken}. Start again without a pageToken.`);
}

async function* sessionsOf(ledger: Ledger, owner: Owner, contextId: string): AsyncGenerator<SessionRecord> {
  if (contextId !== "") {
    const session = (await ledger.load({ session: { ...owner, id: contextId } }))?.session;
    if (session !== undefined && session.deletedAt === undefined) yield session;
    return;
  }
  yield* eachOf((page) => ledger.sessions(owner, page));
}

/** A run, as far as its events were read. */
class Run {
  readonly ref: TaskRef;
  readonly isTask: boolean;
  readonly ending: Ending = new Ending();
  movedAt = 0;

  constructor(ref: TaskRef, first: StoredEvent) {
    this.ref = ref;
    this.isTask = beginsTask(first, ref.invocation);
  }

  add(event: StoredEvent): void {
    this.ending.add(event);
    this.movedAt = event.timestamp;
  }
}

/** The tasks of a session. Its events are read in parts and not kept. */
async function runsIn(ledger: Ledger, session: string): Promise<readonly Run[]> {
  const runs = new Map<string, Run>();
  let seq = 0;
  for await (const events of eventsAfter(ledger, session, 0)) {
    for (const event of events) {
      seq += 1;
      // Imported events did not run here.
      if (event.imported !== undefined) continue;
      const { invocationId: invocation } = event;
      const run = runs.get(invocation) ?? new Run({ session, seq, invocation }, event);
      runs.set(invocation, run);
      run.add(event);
    }
  }
  return [...runs.values()].filter(({ isTask }) => isTask);
}
