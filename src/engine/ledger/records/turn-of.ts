import type { CallRecord } from "./call-record.ts";

/** Names the turn of a call: the same for all calls that the model made at once. */
export function turnOf({
  id,
  session,
  frame,
  turn,
  callerTurn,
}: Pick<CallRecord, "id" | "session" | "frame" | "turn" | "callerTurn">): string {
  if (frame !== undefined) return `${frame}.${turn}`;
  return callerTurn === undefined ? id : `${session}.${callerTurn}`;
}
