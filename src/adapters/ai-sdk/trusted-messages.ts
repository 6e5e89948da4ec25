import type { ModelMessage } from "ai";
import type { CallerOutcome } from "../../engine/index.ts";
import type { ThreadGate } from "../thread-gate.ts";
import { requests, usesOf, withoutLastDenials, withoutLastResult } from "./messages.ts";

/** Looks calls up. */
export type Finding = Pick<ThreadGate, "find">;

/** Looks each call up once. */
export function lookingOnce(gate: Finding): Finding {
  const looks = new Map<string, ReturnType<Finding["find"]>>();
  return {
    find: (call) => {
      const name = JSON.stringify([call.id, call.occurrence ?? 0]);
      const look = looks.get(name) ?? gate.find(call);
      looks.set(name, look);
      return look;
    },
  };
}

const OVER: ReadonlySet<CallerOutcome["status"]> = new Set([
  "succeeded",
  "failed",
  "denied",
  "expired",
  "cancelled",
]);

/** How many earlier calls of the thread had this id. A result in the messages counts only if the ledger's call is over. */
export async function occurrenceIn(
  gate: Finding,
  messages: readonly ModelMessage[],
  toolCallId: string,
): Promise<number> {
  const { results } = usesOf(messages, toolCallId);
  let occurrence = 0;
  while (occurrence < results) {
    const outcome = await gate.find({ id: toolCallId, occurrence });
    if (outcome === undefined || !OVER.has(outcome.status)) break;
    occurrence += 1;
  }
  return occurrence;
}

/**
 * The messages without results that the ledger does not know of: a client's denial becomes a result without anybody's
 * decision, and the call must stay one that can go on.
 */
export async function trusted(
  gate: Finding,
  gated: { has(tool: string): boolean },
  messages: readonly ModelMessage[],
): Promise<readonly ModelMessage[]> {
  const ids = requests(messages).flatMap(({ toolName, toolCallId }) =>
    gated.has(toolName) ? [toolCallId] : [],
  );
  let kept = withoutLastDenials(messages, new Set(ids));
  for (const id of ids) {
    const outcome = await gate.find({ id, occurrence: await occurrenceIn(gate, kept, id) });
    if (outcome !== undefined && !OVER.has(outcome.status)) kept = withoutLastResult(kept, id);
  }
  return kept;
}
