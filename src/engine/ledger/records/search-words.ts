import { isJsonObject, type JsonValue } from "../../../protocol/index.ts";
import { redact } from "../../common/index.ts";
import type { CallRecord } from "./call-record.ts";
import type { ConfirmationRecord } from "./confirmation-record.ts";

const WORD = /[\p{L}\p{N}\p{M}]+/gu;
// What is left of an accented letter once it is taken apart; marks of other scripts are letters of their own.
const ACCENTS = /[\u0300-\u036f]/g;
// Normalizing sorts the marks of a letter, in time that grows with their square. No language puts so many on one.
const TOO_MANY_MARKS = /([\p{M}\uff9e\uff9f]{30})[\p{M}\uff9e\uff9f]+/gu;
const MOST_WORDS = 4_000;

/** The words of a text, each once, alike whatever their case and accents. Nothing but letters and digits is left. */
export function wordsOf(text: string): readonly string[] {
  const bounded = text.replace(TOO_MANY_MARKS, "$1");
  // Upper case, because lower case has two forms of some letters.
  const folded = bounded.normalize("NFKD").replace(ACCENTS, "").toUpperCase().normalize("NFKC");
  return [...new Set(folded.match(WORD))];
}

/**
 * What a search finds an open confirmation by: the words of its tool, its agent and its arguments, names and
 * values, with declared secrets left out. Only the first few thousand words of very long arguments count.
 */
export function searchableWords(
  { tool, agent }: Pick<ConfirmationRecord, "tool" | "agent">,
  { args, secrets }: Pick<CallRecord, "args" | "secrets">,
): readonly string[] {
  const words = new Set<string>();
  for (const text of textsOf([tool, agent, redact(args, secrets)])) {
    for (const word of wordsOf(text)) words.add(word);
    if (words.size >= MOST_WORDS) break;
  }
  return [...words].slice(0, MOST_WORDS);
}

function* textsOf(value: JsonValue): Generator<string> {
  if (typeof value === "string") yield value;
  else if (typeof value === "number" || typeof value === "boolean") yield String(value);
  else if (Array.isArray(value)) for (const item of value as readonly JsonValue[]) yield* textsOf(item);
  else if (isJsonObject(value)) {
    for (const [name, item] of Object.entries(value)) {
      yield name;
      yield* textsOf(item);
    }
  }
}
