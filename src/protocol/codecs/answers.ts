import { canonicalJson } from "../canonical-json.ts";
import type { Part } from "../content.ts";
import type { ErrorCode } from "../error-code.ts";
import { isJsonArray, isJsonObject, type JsonObject, member, toJsonValue } from "../json.ts";
import { REQUEST_CONFIRMATION_FUNCTION_NAME } from "../reserved-names.ts";
import { parsePart } from "./adk/content.ts";
import { type Answer, readAnswer } from "./answer-shape.ts";

/** One valid answer. The engine decides whether it counts (open, of this session, by whom). */
export interface AnsweredConfirmation extends Answer {
  /** As sent: the confirmation's id, or the original call's. */
  readonly id: string;
}

/** A part that was refused alone; the rest of its message is judged as if it were not there. */
export interface RefusedPart {
  readonly code: ErrorCode;
  readonly message: string;
  readonly id?: string;
  readonly name?: string;
}

/** A parsed user's message. */
export interface DecodedAnswers {
  /** At most one for each id. */
  readonly decisions: readonly AnsweredConfirmation[];
  readonly refused: readonly RefusedPart[];
  /** Warnings about answers that were dropped without a refusal, because they named no call. */
  readonly warnings: readonly string[];
  /** All other parts, in order: the user's text. */
  readonly rest: readonly Part[];
}

/**
 * Separates the answers in a user's message (a Content, or an event with one) from its text, for every wire format;
 * never throws on JSON. The same answer twice counts once. Two different answers for one id, or a readable one beside
 * one that cannot be read, decide nothing. Results of tools are refused: no client may send them. Nothing counts in an
 * event whose author is not `user`.
 */
export function decodeAnswers(message: unknown): DecodedAnswers {
  const envelope = isJsonObject(message) ? message : {};
  const content = member(envelope, "content");
  const author = member(envelope, "author");
  const parts = member(isJsonObject(content) ? content : envelope, "parts");
  const sorting = new Sorting(author === undefined || author === "user");
  for (const part of isJsonArray(parts) ? parts : []) sorting.add(part);
  return sorting.finish();
}

class Sorting {
  readonly #isByUser: boolean;
  readonly #decisions = new Map<string, AnsweredConfirmation>();
  readonly #undecidable = new Set<string>();
  readonly #refused: RefusedPart[] = [];
  readonly #warnings: string[] = [];
  readonly #rest: Part[] = [];

  constructor(isByUser: boolean) {
    this.#isByUser = isByUser;
  }

  add(part: unknown): void {
    const responses = isJsonObject(part) ? responsesIn(part) : [];
    const [response] = responses;
    if (response === undefined) this.#addOther(part);
    else if (responses.length === 1) this.#addResponse(response);
    else
      for (const each of responses) this.#refuse(each, "malformed-decision", "The part holds two responses.");
  }

  finish(): DecodedAnswers {
    const decisions = [...this.#decisions.values()].filter((decision) => !this.#undecidable.has(decision.id));
    return { decisions, refused: this.#refused, warnings: this.#warnings, rest: this.#rest };
  }

  #addOther(part: unknown): void {
    const checked = toJsonValue(part);
    const outcome = checked.ok
      ? parsePart(checked.value, "The part")
      : { ...checked, code: "malformed-json" as const };
    if (outcome.ok) this.#rest.push(outcome.value);
    else this.#refused.push({ code: outcome.code, message: outcome.message });
  }

  #addResponse(response: unknown): void {
    const { id, name } = labelsOf(response);
    if (name !== REQUEST_CONFIRMATION_FUNCTION_NAME) {
      this.#refuse(response, "forged-result", `A client may not send the result of ${name || "a call"}.`);
    } else if (!this.#isByUser) {
      this.#refuse(response, "forbidden", "Only the user's own message can answer a confirmation.");
    } else if (id === undefined) {
      this.#warnings.push("dropped: no function-call id");
    } else {
      this.#addAnswer(id, response);
    }
  }

  #addAnswer(id: string, response: unknown): void {
    const reading = readAnswer(isJsonObject(response) ? member(response, "response") : undefined);
    if (!reading.ok) {
      this.#refuse(response, "malformed-decision", reading.message);
      return;
    }
    const decision = { id, ...reading.answer };
    const earlier = this.#decisions.get(id);
    if (earlier === undefined) this.#decisions.set(id, decision);
    else if (contentOf(earlier) !== contentOf(decision)) {
      this.#refuse(response, "malformed-decision", `The message answers ${id} in two different ways.`);
    }
  }

  #refuse(response: unknown, code: ErrorCode, message: string): void {
    const labels = labelsOf(response);
    this.#refused.push({ code, message, ...labels });
    if (code === "malformed-decision" && labels.id !== undefined) this.#undecidable.add(labels.id);
  }
}

function contentOf({ id: _, ...answer }: AnsweredConfirmation): string {
  return canonicalJson(answer);
}

function responsesIn(part: JsonObject): unknown[] {
  const spellings = [member(part, "functionResponse"), member(part, "function_response")];
  return spellings.filter((response) => response !== undefined && response !== null);
}

function labelsOf(response: unknown): { id?: string; name?: string } {
  const object = isJsonObject(response) ? response : {};
  const id = member(object, "id");
  const name = member(object, "name");
  return { ...(typeof id === "string" && id !== "" && { id }), ...(typeof name === "string" && { name }) };
}
