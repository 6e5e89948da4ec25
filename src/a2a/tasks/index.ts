/**
 * A run of a session, as an A2A task. Decided here: which run a task's id names; what a task's state is, always read
 * from the ledger; what a caller was shown, so that an answer is bound to it; how a task is followed, listed and
 * cancelled. A task is not stored; it is a view of a run.
 */

export { cancelTask } from "./cancel-task.ts";
export { type Following, followTask, untilChanged, untilPaused } from "./follow.ts";
export { listTasks } from "./list-tasks.ts";
export { readTask, type TaskView } from "./read-task.ts";
export { rememberShown, shownAs, shownIn } from "./shown.ts";
export { parseTaskId, startedTask, type TaskRef, taskIdOf } from "./task-id.ts";
export { toTask } from "./to-task.ts";
