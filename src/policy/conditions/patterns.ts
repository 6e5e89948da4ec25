import { RE2JS } from "re2js";
import { CountersignError } from "../../protocol/index.ts";

const LONGEST_PATTERN = 1_000;
const LONGEST_TEXT = 100_000;

const compiled = new Map<string, RE2JS>();

/** Why a pattern is refused, if it is. A good one is compiled once, and kept. */
export function flawOfPattern(pattern: string): string | undefined {
  if (pattern.length > LONGEST_PATTERN) return `a pattern may have at most ${LONGEST_PATTERN} characters`;
  if (compiled.has(pattern)) return undefined;
  try {
    compiled.set(pattern, RE2JS.compile(pattern));
    return undefined;
  } catch (error) {
    return `the pattern is not valid: ${error instanceof Error ? error.message : String(error)}`;
  }
}

/** Does the pattern occur in the text? In time linear in the text's length, whatever the pattern. */
export function occurs(text: string, pattern: string): boolean {
  const expression = compiled.get(pattern);
  if (expression === undefined) throw new CountersignError("internal", "A pattern was not compiled.");
  if (text.length > LONGEST_TEXT)
    throw new CountersignError("invalid-option", `re2() takes texts of at most ${LONGEST_TEXT} characters`);
  return expression.test(text);
}
