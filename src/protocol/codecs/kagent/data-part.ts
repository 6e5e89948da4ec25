import type { ConfirmationAsk } from "../../event.ts";
import { isJsonObject, type JsonObject, type JsonValue, member } from "../../json.ts";
import { type Parsed, parsed } from "../../parsed.ts";
import { REQUEST_CONFIRMATION_FUNCTION_NAME } from "../../reserved-names.ts";
import { requestOf } from "../adk/request.ts";
import { mismatch, strictObject, undecided } from "./strict-object.ts";

/** An A2A data part of the older form, as A2A 0.3 writes it; 1.0 has no `kind`. */
export interface DataPart {
  readonly kind: "data";
  readonly data: JsonObject;
  readonly metadata: JsonObject;
}

/** A question that is open in the task's latest `input-required` message. */
export interface OpenQuestion {
  /** The confirmation's id. */
  readonly id: string;
  /** The gated call's id: batches name its first question by it. */
  readonly callId: string;
  /** Not the call's first question: only its own id names it. */
  readonly later?: true;
}

/** One decision of the older form. */
export interface DataPartDecision extends Pick<OpenQuestion, "id" | "callId"> {
  readonly confirmed: boolean;
  readonly reason?: string;
}

/**
 * The question as a data part, for clients that did not opt in to the extension. The metadata is given bare and
 * under both prefixes: ADK clients read `adk_…`, kagent's `kagent_…`, and its first UI the bare names.
 */
export function encodeDataPart(ask: ConfirmationAsk): DataPart {
  const { originalFunctionCall, toolConfirmation } = requestOf(ask);
  const args = {
    originalFunctionCall: { ...originalFunctionCall },
    toolConfirmation: { ...toolConfirmation },
  };
  return {
    kind: "data",
    data: { name: REQUEST_CONFIRMATION_FUNCTION_NAME, id: ask.id, args },
    metadata: {
      type: "function_call",
      is_long_running: true,
      adk_type: "function_call",
      adk_is_long_running: true,
      kagent_type: "function_call",
      kagent_is_long_running: true,
    },
  };
}

const MEMBERS: { readonly [decisionType: string]: readonly string[] } = {
  approve: [],
  deny: ["reason", "rejection_reason"],
  reject: ["reason", "rejection_reason"],
  batch: ["decisions", "rejection_reasons"],
};

/**
 * The decisions in the `data` of an older answer, `{decision_type}`. The bare words decide exactly the open
 * questions, if each is the first of its call; a batch names each open question exactly once, by its call or, where it
 * is a later one, by its own id. Refuses the whole answer (`malformed-decision`) when nothing is open, for an unknown
 * word, a member that does not belong, or a batch that does not fit exactly. `undefined` when the data is no such
 * answer at all.
 */
export function decodeDecisionData(
  data: unknown,
  open: readonly OpenQuestion[],
): Parsed<readonly DataPartDecision[] | undefined> {
  if (!isJsonObject(data) || !Object.hasOwn(data, "decision_type")) return parsed(undefined);
  const type = member(data, "decision_type");
  const allowed = typeof type === "string" ? member(MEMBERS, type) : undefined;
  if (allowed === undefined) return undecided("decision_type", "must be approve, deny, reject or batch");
  const object = strictObject(data, ["decision_type", ...allowed], "");
  if (!object.ok) return object;
  if (open.length === 0) return undecided("decision_type", "decides nothing: no question is open");
  if (type === "batch") return decodeBatch(object.value, open);
  const later = open.find((question) => question.later);
  if (later !== undefined) return undecided("decision_type", `must be batch, and name ${later.id}: ${LATER}`);
  const reason = reasonIn(object.value);
  if (!reason.ok) return reason;
  return parsed(open.map((question) => decision(question, type === "approve", reason.value)));
}

// The word may have been meant for the question before, and be sent again.
const LATER = "the call has asked before";

function decodeBatch(batch: JsonObject, open: readonly OpenQuestion[]): Parsed<readonly DataPartDecision[]> {
  const words = member(batch, "decisions");
  const reasons = member(batch, "rejection_reasons") ?? {};
  if (!isJsonObject(words)) return undecided("decisions", "must be an object keyed by call id");
  if (!isJsonObject(reasons)) return undecided("rejection_reasons", "must be an object keyed by call id");
  const names = open.map(nameOf);
  const wrong = mismatch(names, Object.keys(words), "decisions");
  if (wrong !== undefined) return wrong;
  const stray = Object.keys(reasons).find((name) => !names.includes(name));
  if (stray !== undefined) return undecided("rejection_reasons", `names ${stray}, which was not asked`);
  const decisions: DataPartDecision[] = [];
  for (const question of open) {
    const name = nameOf(question);
    const word = member(words, name);
    const reason = member(reasons, name) ?? "";
    if (!isVerdict(word)) return undecided(`decisions.${name}`, "must be approve, deny or reject");
    if (typeof reason !== "string") return undecided(`rejection_reasons.${name}`, "must be a string");
    decisions.push(decision(question, word === "approve", reason));
  }
  return parsed(decisions);
}

function nameOf({ id, callId, later }: OpenQuestion): string {
  return later === true ? id : callId;
}

function decision({ id, callId }: OpenQuestion, confirmed: boolean, reason: string): DataPartDecision {
  return { id, callId, confirmed, ...(!confirmed && reason !== "" && { reason }) };
}

function isVerdict(word: JsonValue | undefined): boolean {
  return word === "approve" || word === "deny" || word === "reject";
}

function reasonIn(data: JsonObject): Parsed<string> {
  for (const name of ["reason", "rejection_reason"]) {
    const reason = member(data, name) ?? "";
    if (typeof reason !== "string") return undecided(name, "must be a string");
    if (reason !== "") return parsed(reason);
  }
  return parsed("");
}
