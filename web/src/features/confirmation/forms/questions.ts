import type { UserQuestion } from "countersign/protocol";
import type { Confirmation, JsonObject, JsonValue } from "../../../api/types.ts";
import { asObject, type FormResult, type Typed } from "./form-fields.ts";

/** The tool by which a model asks a person in plain words, and the name of what it asks. */
const ASK_USER = "ask_user";

/** What somebody has picked, and what they wrote beside it. */
export interface Picks {
  readonly picked: readonly string[];
  readonly own: string;
}

/**
 * The questions of a confirmation that asks some instead of for an approval; undefined for any other, and for one whose
 * arguments hold anything that a form of questions would not show.
 */
export function questionsIn({
  tool,
  question,
  askedByTool,
  args,
}: Confirmation): readonly UserQuestion[] | undefined {
  if (tool !== ASK_USER || question !== ASK_USER || askedByTool !== true) return undefined;
  if (!hasOnly(args, ["questions"])) return undefined;
  const items: readonly JsonValue[] = Array.isArray(args["questions"]) ? args["questions"] : [];
  const questions = items.flatMap((item) => questionOf(asObject(item)) ?? []);
  return questions.length > 0 && questions.length === items.length ? questions : undefined;
}

function questionOf(item: JsonObject | undefined): UserQuestion | undefined {
  if (item === undefined || !hasOnly(item, ["question", "choices", "multiple"])) return undefined;
  const { question, choices = [], multiple = false } = item;
  if (typeof question !== "string" || typeof multiple !== "boolean" || !isTexts(choices)) return undefined;
  return { question, choices, multiple };
}

function isTexts(value: JsonValue): value is readonly string[] {
  return Array.isArray(value) && value.every((each) => typeof each === "string");
}

function hasOnly(object: JsonObject, names: readonly string[]): boolean {
  return Object.keys(object).every((name) => names.includes(name));
}

/** The name of the answer to the question at this place, in the payload of an approval. */
export function answerName(index: number): string {
  return `answer_${index + 1}`;
}

export function readPicks(text: string): Picks {
  return text === "" ? { picked: [], own: "" } : (JSON.parse(text) as Picks);
}

/** Changes what is picked. Where one answer is wanted, the last one counts, be it picked or written. */
export function pick(
  picks: Picks,
  multiple: boolean,
  change: { readonly choice: string } | { readonly own: string },
): string {
  const next = multiple ? several(picks, change) : one(change);
  return next.picked.length === 0 && next.own === "" ? "" : JSON.stringify(next);
}

function one(change: { readonly choice: string } | { readonly own: string }): Picks {
  return "own" in change ? { picked: [], own: change.own } : { picked: [change.choice], own: "" };
}

function several(
  { picked, own }: Picks,
  change: { readonly choice: string } | { readonly own: string },
): Picks {
  if ("own" in change) return { picked, own: change.own };
  const { choice } = change;
  return {
    own,
    picked: picked.includes(choice) ? picked.filter((each) => each !== choice) : [...picked, choice],
  };
}

/** All answers as the tool takes them. None has to be given, but one of them. */
export function readAnswers(questions: readonly UserQuestion[], typed: Typed): FormResult {
  const given = questions.flatMap(({ multiple }, index) => {
    const answer = toAnswer(typed[answerName(index)] ?? "", multiple);
    return answer === undefined ? [] : [[answerName(index), answer] as const];
  });
  return given.length === 0
    ? { ok: false, faults: { "": "Answer at least one question." } }
    : { ok: true, value: Object.fromEntries(given) };
}

/** The answer as the tool takes it; undefined where there is none. */
export function toAnswer(text: string, multiple: boolean): JsonValue | undefined {
  const { picked, own } = readPicks(text);
  const all = own.trim() === "" ? picked : [...picked, own.trim()];
  return multiple && all.length > 0 ? all : all[0];
}
