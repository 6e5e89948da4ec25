import type { Confirmation } from "../../../api/types.ts";
import { questionsIn } from "../forms/questions.ts";
import { type Fact, headline, lastWord, wordsOf } from "./headline.ts";

/** A stretch of the question, and whether the model wrote it. */
export interface Piece {
  readonly text: string;
  readonly isModels: boolean;
}

/** The question as a person would put it, and whose words it is in. */
export interface Question {
  readonly from: "us" | "author" | "tool" | "server";
  readonly pieces: readonly Piece[];
  /** The hint has more than fits a title. */
  readonly isShortened: boolean;
}

const LONGEST_TITLE = 160;
/** What the ADK says to programs. */
const TO_PROGRAMS = /by responding with a FunctionResponse/i;

/** Before which targets a sentence needs a word. */
const BEFORE: { readonly [word: string]: string } = {
  to: "to",
  recipient: "to",
  destination: "to",
  email: "to",
  account: "to",
  iban: "to",
  purpose: "for",
  reason: "for",
  customer: "for",
  employee: "for",
  user: "for",
  host: "on",
  database: "on",
  service: "on",
  channel: "to",
};
/** Tools that take something from where an address leads, and those that bring something there. */
const TAKES = new Set(["download", "fetch", "get", "read", "pull", "import", "scrape", "crawl"]);
const BRINGS = new Set(["post", "send", "upload", "push", "publish", "submit"]);
/** Words of names that are written in capitals. */
const CAPITALS = new Set(["sql", "url", "api", "csv", "pdf", "dns", "ssh", "http"]);
const PERIODS = new Set(["days", "hours"]);

/** The question in one sentence: the author's own, or one made of the tool's name and what it is about. */
export function questionOf(confirmation: Confirmation): Question {
  const { hint, source, askedByTool } = confirmation;
  const asked = questionsIn(confirmation)?.length ?? 0;
  if (asked > 0) return ours([us(asked === 1 ? "A question for you" : `${asked} questions for you`)]);
  if (isForPrograms(confirmation)) return ours(sentence(confirmation));
  const [line = ""] = hint.trim().split("\n", 1);
  const text = Array.from(line).slice(0, LONGEST_TITLE).join("");
  return {
    from: source !== undefined ? "server" : askedByTool === true ? "tool" : "author",
    pieces: [us(text)],
    isShortened: text !== hint.trim(),
  };
}

/** The same as plain text, for rows, notices and titles. */
export function questionText(confirmation: Confirmation): string {
  const [first] = questionsIn(confirmation) ?? [];
  if (first !== undefined) return first.question;
  return questionOf(confirmation)
    .pieces.map(({ text }, index) => (index === 0 || text === "?" ? text : ` ${text}`))
    .join("");
}

/** A hint that nobody wrote for people: the default one, or the ADK's. */
function isForPrograms({ hint, tool }: Pick<Confirmation, "hint" | "tool">): boolean {
  return hint.trim() === "" || hint === `Approve execution of tool ${tool}?` || TO_PROGRAMS.test(hint);
}

function sentence({ tool, args, originalArgs, status }: Confirmation): readonly Piece[] {
  // What was asked. Once it is decided, what an approver changed stands apart, under their name.
  const { amount, target } = headline(status === "requested" ? args : (originalArgs ?? args));
  const words = wordsOf(tool);
  const said = words.map((word) => (CAPITALS.has(word) ? word.toUpperCase() : word)).join(" ");
  const verb = `${said.charAt(0).toUpperCase()}${said.slice(1)}`;
  return [us(verb), ...amountPieces(amount), ...targetPieces(target, words), us("?")];
}

function amountPieces(amount: Fact | undefined): readonly Piece[] {
  if (amount === undefined) return [];
  const of = PERIODS.has(lastWord(amount.name)) ? [us("of")] : [];
  return [...of, model(amount.text)];
}

function targetPieces(target: Fact | undefined, verb: readonly string[]): readonly Piece[] {
  if (target === undefined) return [];
  const name = lastWord(target.name);
  const before = name === "url" ? beforeAddress(verb) : verb.includes(name) ? undefined : BEFORE[name];
  return [...(before === undefined ? [] : [us(before)]), model(target.text)];
}

function beforeAddress([first = ""]: readonly string[]): string | undefined {
  if (TAKES.has(first)) return "from";
  return BRINGS.has(first) ? "to" : undefined;
}

function ours(pieces: readonly Piece[]): Question {
  return { from: "us", pieces, isShortened: false };
}

function us(text: string): Piece {
  return { text, isModels: false };
}

function model(text: string): Piece {
  return { text, isModels: true };
}
