import { type CallRecord, isAnswered, type Ledger } from "../../engine/index.ts";

/** Is an invocation running, waiting for people, or over? */
export interface Activity {
  readonly state: "active" | "paused" | "ended";
  /** Calls with an unknown outcome: the run waits until a person settles them. */
  readonly unknown: readonly CallRecord[];
}

export async function activityOf(ledger: Ledger, session: string, invocation: string): Promise<Activity> {
  const frames = (await ledger.liveFrames(session)).filter((frame) => frame.invocation === invocation);
  if (frames.length === 0) return { state: "ended", unknown: [] };
  if (frames.some(({ status }) => status !== "waiting")) return { state: "active", unknown: [] };
  const calls = await ledger.calls(frames.flatMap(({ calls: ids }) => ids));
  const busy = calls.some(({ status }) => status === "executing" || status === "ready");
  // Its last answer came between the two reads, so it continues.
  const answered = new Set(calls.filter(({ status }) => isAnswered(status)).map(({ id }) => id));
  const stale = frames.some(({ calls: ids }) => ids.length > 0 && ids.every((id) => answered.has(id)));
  return {
    state: busy || stale ? "active" : "paused",
    unknown: calls.filter(({ status }) => status === "unknown"),
  };
}
