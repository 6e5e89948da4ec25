import { type CallRecord, type Engine, isAnswered, type Principal } from "../../engine/index.ts";
import { refused } from "../messages/index.ts";
import { CANCELLED, type TaskView } from "./read-task.ts";

/**
 * Stops a task's run: open questions are withdrawn, and no further step is taken. Refused while a call executes or its
 * outcome is unknown, because "canceled" would say that it did not happen.
 */
export async function cancelTask(engine: Engine, view: TaskView, principal: Principal): Promise<void> {
  if (view.phase === "canceled") return;
  if (view.phase !== "working" && view.phase !== "waiting") {
    throw refused("not-cancellable", `The task has ended (${view.phase}).`);
  }
  const { session, invocation } = view.ref;
  const frames = (await engine.ledger.liveFrames(session)).filter((frame) => frame.invocation === invocation);
  const calls = await engine.ledger.calls(frames.flatMap((frame) => frame.calls));
  const busy = calls.find(mayHaveRun);
  if (busy !== undefined) {
    throw refused(
      "call-executing",
      `The call ${busy.wireId} (${busy.tool}) ${statusWords(busy)}; the task cannot be canceled now.`,
    );
  }
  const reason = `${principal.id} canceled the task.`;
  // A call may have started since it was looked at.
  const run = { session, invocation, reason, errorCode: CANCELLED, unlessStarted: true } as const;
  if (await engine.cancelRun(run)) return;
  throw refused(
    "not-cancellable",
    "A call of the task has just started, or the task has ended. Get the task.",
  );
}

function mayHaveRun({ status, lost = 0 }: CallRecord): boolean {
  return status === "executing" || status === "unknown" || (lost > 0 && !isAnswered(status));
}

function statusWords({ status }: CallRecord): string {
  if (status === "executing") return "is running";
  return status === "unknown"
    ? "has an unknown outcome that a person must settle"
    : "was started and may have run";
}
