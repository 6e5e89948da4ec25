import { isJsonObject, type JsonObject, type JsonValue, member } from "../../protocol/index.ts";
import type { AskOptions } from "../calls/index.ts";
import { sameJson } from "../common/index.ts";
import type { Amendment, StoredCall } from "../host.ts";
import { parseChanged } from "./changed-args.ts";
import type { GatedTool } from "./gated-tool.ts";
import { type GateRules, judge, storedSubject } from "./judge.ts";
import type { Ruling, Verdict } from "./verdict.ts";

/** What hooks left of a call: its arguments with what they ask for, or an answer in its place. */
export type HookAnswer =
  | { readonly args: JsonObject; readonly verdicts: readonly Verdict[]; readonly card: AskOptions }
  | { readonly answer: JsonValue };

/** A tool, and all that judges its calls. */
export interface JudgedTool {
  readonly rules: GateRules;
  readonly tool: GatedTool;
  /** What hooks make of these arguments of a stored call. */
  hooks?(about: StoredCall, args: JsonObject): Promise<HookAnswer>;
}

type Objection = Extract<Amendment, { ok: false }>;

/** What all that judges calls says of a stored one with these arguments; or why they cannot run as they are. */
export type Judged =
  | {
      readonly ok: true;
      readonly args: JsonObject;
      /** What the body would get. */
      readonly value: unknown;
      readonly ruling: Ruling;
      /** What a hook that asks would put on the card. */
      readonly card: AskOptions;
    }
  | Objection;

/**
 * Takes a stored call through parsing, hooks and the gate, as if these arguments had just been sent. Hooks see what
 * would run. Where one would make something else of it, or answer it, nothing runs: the approver saw neither.
 */
export async function judgeAgain(judged: JudgedTool, about: StoredCall, given: JsonObject): Promise<Judged> {
  const { rules, tool } = judged;
  const parsed = await parseChanged(about.call, given, (changed) => tool.parse(changed));
  if (!parsed.ok) return mismatch(parsed);
  const { args, value } = parsed;
  const hooked = (await judged.hooks?.(about, args)) ?? { args, verdicts: [], card: {} };
  if ("answer" in hooked) return answeredInstead(hooked.answer);
  const rewritten = firstDifference(args, hooked.args);
  if (rewritten !== undefined) return mismatch({ field: rewritten, message: REWRITTEN });
  const ruling = await judge(rules, { tool, parsed, subject: storedSubject(about) }, hooked.verdicts);
  return { ok: true, args, value, ruling, card: hooked.card };
}

const REWRITTEN = "a beforeTool hook would change this value; send the changed value to approve it";
const LONGEST_ANSWER = 500;

// A hook's answer takes the place of the call, so there is nothing left to approve.
function answeredInstead(answer: JsonValue): Objection {
  const error = isJsonObject(answer) ? member(answer, "error") : undefined;
  const words = typeof error === "string" ? error : JSON.stringify(answer);
  const message = `A beforeTool hook answers a call with these arguments, so it would not run: ${words.slice(0, LONGEST_ANSWER)}`;
  return { ok: false, code: "policy-denied", message };
}

function mismatch({ field, message }: { readonly field?: string; readonly message: string }): Objection {
  return { ok: false, code: "arguments-mismatch", message, ...(field === undefined ? {} : { field }) };
}

function firstDifference(before: JsonObject, after: JsonObject): string | undefined {
  const names = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...names].find((name) => !sameJson(member(before, name), member(after, name)));
}
