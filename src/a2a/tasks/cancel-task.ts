import type { Engine, Principal } from "../../engine/index.ts";
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
  const busy = calls.find(({ status }) => status === "executing" || status === "unknown");
  if (busy !== undefined) {
    const what =
      busy.status === "executing" ? "is running" : "has an unknown outcome that a person must settle";
    throw refused(
      "call-executing",
      `The call ${busy.wireId} (${busy.tool}) ${what}; the task cannot be canceled now.`,
    );
  }
  const reason = `${principal.id} canceled the task.`;
  await engine.cancelRun({ session, invocation, reason, errorCode: CANCELLED });
}
