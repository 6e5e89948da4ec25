import type { Ledger } from "../engine/index.ts";

/** Is anything of this invocation under way, waiting for people, or is it over? */
export type Activity = "active" | "paused" | "ended";

export async function activityOf(ledger: Ledger, session: string, invocation: string): Promise<Activity> {
  const frames = (await ledger.liveFrames(session)).filter((frame) => frame.invocation === invocation);
  if (frames.length === 0) return "ended";
  if (frames.some(({ status }) => status !== "waiting")) return "active";
  const calls = await ledger.calls(frames.flatMap(({ calls: ids }) => ids));
  return calls.some(({ status }) => status === "executing" || status === "ready") ? "active" : "paused";
}
