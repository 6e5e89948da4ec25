import { isJsonObject, type JsonObject, type JsonValue, member } from "../../protocol/index.ts";
import type { AskOptions } from "../calls/index.ts";
import { sameJson } from "../common/index.ts";
import type { Amendment, StoredCall } from "../host.ts";
import { parseChanged } from "./changed-args.ts";
import type { GatedTool } from "./gated-tool.ts";
import { type GateRules, judge, storedSubject } from "./judge.ts";
import type { Ruling, Verdict } from "./verdict.ts";

/** The result of the hooks for a call: its arguments and confirmation requests, or an answer that replaces the call. */
export type HookAnswer =
  | { readonly args: JsonObject; readonly verdicts: readonly Verdict[]; readonly card: AskOptions }
  | { readonly answer: JsonValue };

/** A tool, and everything that judges its calls. */
export interface JudgedTool {
  readonly rules: GateRules;
  readonly tool: GatedTool;
  /** Runs the hooks on a stored call with these arguments. */
  hooks?(about: StoredCall, args: JsonObject): Promise<HookAnswer>;
}

type Objection = Extract<Amendment, { ok: false }>;

/** The ruling for a stored call with these arguments, or why they cannot run. */
export type Judged =
  | {
      readonly ok: true;
      readonly args: JsonObject;
      /** What the body would get. */
      readonly value: unknown;
      readonly ruling: Ruling;
      /** What a hook adds to the card. */
      readonly card: AskOptions;
    }
  | Objection;

/**
 * Takes a stored call through parsing, hooks and the gate, as if these arguments had just been sent. Hooks see what
 * would run. If a hook changes or answers the call, nothing runs, because the approver did not see that.
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

// A hook's answer replaces the call, so there is nothing to approve.
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
