import type { ConfirmationWithCall, DecisionInput } from "../../engine/index.ts";
import {
  decodeAnswers,
  decodeAskUserResponse,
  decodeDecisionData,
  decodeToolApprovalResponse,
  type JsonObject,
  member,
  type Parsed,
} from "../../protocol/index.ts";
import { toAnswersPayload } from "../../runtime/index.ts";
import { askOf, type Incoming, pausesOf, refused } from "../messages/index.ts";
import { type Shown, shownAs } from "../tasks/index.ts";

/** An answer, in whichever form. */
export type Answer = Exclude<Incoming, { kind: "words" }>;

/** What an answer is held against. */
export interface Asked {
  /** All that is open in the task. */
  readonly open: readonly ConfirmationWithCall[];
  /** What was shown of the task in the older form. */
  readonly shown: Shown;
}

/**
 * The decisions of an answer. Throws, and decides nothing, unless it matches exactly what is open: the extension's
 * payload decides the current request, every id once; a batch of the older form decides what was last shown, if it is
 * still open, and a bare word only what was shown first; ADK responses decide the ids that they name.
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

// The older form names a question only by its call, and decides the first one of a call. A bare word names nothing: it
// counts only for the first questions of a task, because a page may still show them when others are open.
function readDecisionData(data: JsonObject, { open, shown }: Asked): readonly DecisionInput[] {
  const questions = open.map(({ confirmation: { id, round }, call }) => ({
    id,
    callId: call.wireId,
    ...(round === 0 ? {} : { later: true as const }),
  }));
  if (!isOpen(shown.last, open)) {
    throw refused(
      "stale-version",
      "The task's questions have changed since you read them. Get the task and answer again.",
    );
  }
  const decisions = valueOf(decodeDecisionData(data, questions)) ?? [];
  const isBare = member(data, "decision_type") !== "batch";
  if (isBare && !isOpen(shown.first, open)) {
    throw refused(
      "stale-version",
      "The task has asked something else before, and your answer does not say what it is for. Answer with a batch that names each call, or use the extension.",
    );
  }
  return decisions.map(({ callId: _call, ...decision }) => {
    const shownVersion = open.find(({ confirmation: { id } }) => id === decision.id)?.confirmation
      .shownVersion;
    return shownVersion === undefined ? decision : { ...decision, version: shownVersion };
  });
}

function isOpen(shown: readonly string[], open: Asked["open"]): boolean {
  return (
    shown.length === open.length && open.every(({ confirmation }) => shown.includes(shownAs(confirmation)))
  );
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
