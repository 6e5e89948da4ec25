import { type Amendment, type AskOptions, parseChanged, type Shown } from "../../engine/index.ts";
import {
  canonicalJson,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  member,
} from "../../protocol/index.ts";
import { hookContextFor } from "../agents/index.ts";
import type { RunContext } from "../run-context.ts";
import { askBeforeTool } from "./before-tool.ts";
import type { ToolCall } from "./enter-tool.ts";
import { type GatedCall, verdictsOn } from "./gate-call.ts";
import { type Ruling, rule } from "./verdict.ts";

type Objection = Extract<Amendment, { ok: false }>;

/** What all that judges calls says of a stored one with these arguments; or why they cannot run as they are. */
export type Judged =
  | {
      readonly ok: true;
      readonly args: JsonObject;
      readonly ruling: Ruling;
      /** What a hook that asks would put on the card. */
      readonly card: AskOptions;
      /** What the last card said. */
      readonly shown: Shown | undefined;
    }
  | Objection;

/**
 * Takes a stored call through parsing, hooks and the gate, as if the model had just sent these arguments. Hooks see
 * what would run. Where one would make something else of it, or answer it, nothing runs: the approver saw neither.
 * What a hook writes to the state meanwhile is not kept.
 */
export async function judgeAgain(
  run: RunContext,
  { agent, tool, call }: ToolCall,
  given: JsonObject,
): Promise<Judged> {
  const parsed = await parseChanged(call, given, (changed) => tool.parse(changed));
  if (!parsed.ok) return mismatch(parsed);
  const { args } = parsed;
  const { session, frame, confirmation } = (await run.engine.ledger.load({ call: call.id })) ?? {};
  const ctx = frame === undefined ? undefined : await hookContextFor(run, agent, frame);
  if (session === undefined || ctx === undefined) return mismatch({ message: "the call's session is gone" });
  const hooked = await askBeforeTool({ run, agent, ctx }, tool, { id: call.wireId, name: call.tool, args });
  if ("answer" in hooked) return answeredInstead(hooked.answer);
  const rewritten = firstDifference(args, hooked.args);
  if (rewritten !== undefined) return mismatch({ field: rewritten, message: REWRITTEN });
  const where: GatedCall["where"] = { agentName: agent.name, userId: session.user, sessionId: session.id };
  const verdicts = await verdictsOn(run, { tool, parsed, where });
  const ruling = rule([...verdicts, ...hooked.verdicts]);
  return { ok: true, args, ruling, card: hooked.card, shown: confirmation?.shown };
}

const REWRITTEN = "a beforeTool hook makes something else of it, which would have to be sent to be approved";
const LONGEST_ANSWER = 500;

// A hook's answer takes the place of the call, so there is nothing left to approve.
function answeredInstead(answer: JsonValue): Objection {
  const error = isJsonObject(answer) ? member(answer, "error") : undefined;
  const words = typeof error === "string" ? error : JSON.stringify(answer);
  const message = `A beforeTool hook answers these arguments itself, so they cannot run: ${words.slice(0, LONGEST_ANSWER)}`;
  return { ok: false, code: "policy-denied", message };
}

function mismatch({ field, message }: { readonly field?: string; readonly message: string }): Objection {
  return { ok: false, code: "arguments-mismatch", message, ...(field === undefined ? {} : { field }) };
}

function firstDifference(before: JsonObject, after: JsonObject): string | undefined {
  const names = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...names].find((name) => !isSame(member(before, name), member(after, name)));
}

/** Would a hook now ask for a payload that nobody was asked for? */
export function asksForMore({ card, shown }: Extract<Judged, { ok: true }>): boolean {
  const { payload, schema } = card;
  return (
    (payload !== undefined && !isSame(payload, shown?.payload)) ||
    (schema !== undefined && !isSame(schema, shown?.schema))
  );
}

function isSame(one: JsonValue | undefined, other: JsonValue | undefined): boolean {
  if (one === undefined || other === undefined) return one === other;
  return canonicalJson(one) === canonicalJson(other);
}
