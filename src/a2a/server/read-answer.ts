import type { ConfirmationWithCall, DecisionInput } from "../../engine/index.ts";
import {
  decodeAnswers,
  decodeAskUserResponse,
  decodeDecisionData,
  decodeToolApprovalResponse,
  type Parsed,
} from "../../protocol/index.ts";
import { toAnswersPayload } from "../../runtime/index.ts";
import { askOf, type Incoming, pausesOf, refused } from "../messages/index.ts";
import { shownAs } from "../tasks/index.ts";

/** An answer, in whichever form. */
export type Answer = Exclude<Incoming, { kind: "words" }>;

/** What an answer is held against. */
export interface Asked {
  /** All that is open in the task. */
  readonly open: readonly ConfirmationWithCall[];
  /** What the task's latest `input-required` message showed, by `shownAs`, where one was given in the older form. */
  readonly shown: readonly string[];
}

/**
 * The decisions of an answer. Throws, and decides nothing, unless it matches exactly what is open: the extension's
 * payload decides the current request, every id once; the older form decides what was last shown, if it is still open;
 * ADK responses decide the ids that they name.
 */
export function readAnswer(answer: Answer, { open, shown }: Asked): readonly DecisionInput[] {
  if (open.length === 0) throw refused("malformed-decision", "The task does not wait for a decision.");
  switch (answer.kind) {
    case "hitl":
      return readHitl(answer.payload, open);
    case "decision-data":
      return readDecisionData(answer.data, { open, shown });
    case "adk":
      return readAdk(answer.parts, open);
  }
}

function readHitl(payload: unknown, open: Asked["open"]): readonly DecisionInput[] {
  const [pause] = pausesOf(open.map(askOf));
  if (pause === undefined) throw refused("malformed-decision", "The task does not wait for a decision.");
  if (pause.kind === "questions") {
    const { id, questions } = pause.asked;
    const answers = valueOf(decodeAskUserResponse(payload, pause.asked));
    return [{ id, confirmed: true, payload: toAnswersPayload(questions, answers) }];
  }
  return valueOf(
    decodeToolApprovalResponse(
      payload,
      pause.asks.map(({ id }) => id),
    ),
  );
}

// The older form names no question, or only its call: it decides only what was shown, and only the first question of a
// call.
function readDecisionData(data: unknown, { open, shown }: Asked): readonly DecisionInput[] {
  const questions = open.map(({ confirmation: { id, round }, call }) => ({
    id,
    callId: call.wireId,
    ...(round === 0 ? {} : { later: true as const }),
  }));
  const isAsShown =
    shown.length === open.length && open.every(({ confirmation }) => shown.includes(shownAs(confirmation)));
  if (!isAsShown) {
    throw refused(
      "stale-version",
      "The task's questions have changed since you read them. Get the task and answer again.",
    );
  }
  const decisions = valueOf(decodeDecisionData(data, questions)) ?? [];
  return decisions.map(({ callId: _call, ...decision }) => {
    const shownVersion = open.find(({ confirmation: { id } }) => id === decision.id)?.confirmation
      .shownVersion;
    return shownVersion === undefined ? decision : { ...decision, version: shownVersion };
  });
}

function readAdk(
  parts: Extract<Answer, { kind: "adk" }>["parts"],
  open: Asked["open"],
): readonly DecisionInput[] {
  const { decisions, refused: bad, warnings } = decodeAnswers({ role: "user", parts });
  const [first] = bad;
  if (first !== undefined) throw refused(first.code, first.message);
  if (warnings[0] !== undefined) throw refused("malformed-decision", warnings[0]);
  return decisions.map(({ id: given, confirmed, payload, reason }): DecisionInput => {
    if (!open.some(({ confirmation }) => confirmation.id === given)) {
      throw refused("malformed-decision", `The answer names ${given}, which is not open in this task.`);
    }
    return {
      id: given,
      confirmed,
      ...(payload === undefined ? {} : { payload }),
      ...(reason === undefined ? {} : { reason }),
    };
  });
}

function valueOf<T>(parsed: Parsed<T>): T {
  if (parsed.ok) return parsed.value;
  throw refused(parsed.code, parsed.message);
}
