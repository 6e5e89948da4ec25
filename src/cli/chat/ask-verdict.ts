import type { JsonValue } from "../../protocol/index.ts";
import type { FoundConfirmation } from "../find-confirmation.ts";
import type { Line, Lines } from "./lines.ts";
import { type Field, formOf } from "./payload-form.ts";
import type { Screen } from "./screen.ts";
import { readVerdict, type Verdict } from "./verdict.ts";

/** An answer, or why there is none. */
export type Asked = Verdict | Exclude<Line, { kind: "line" }>;

interface Asking {
  readonly screen: Screen;
  /** Aborts when the question was decided elsewhere. */
  readonly signal: AbortSignal;
}

/** Asks until there is a valid answer: a yes with all required values, a no, or "later". */
export async function askVerdict(lines: Lines, found: FoundConfirmation, asking: Asking): Promise<Asked> {
  // Input that was typed before the card was shown was meant for something else.
  lines.dropTypedAhead();
  for (;;) {
    const line = await lines.next("approve, deny or later? ", asking.signal);
    if (line.kind !== "line") return line;
    const verdict = readVerdict(line.text);
    if (verdict === undefined) {
      asking.screen.note("Type approve (or y), deny (or n, optionally with a reason), or later.");
      continue;
    }
    if (verdict.kind === "deny") return withReason(lines, verdict, asking);
    if (verdict.kind === "later" || verdict.payload !== undefined) return verdict;
    return withPayload(lines, found, asking);
  }
}

// In a pipe the reason follows the word; the next line is something else.
async function withReason(
  lines: Lines,
  verdict: Extract<Verdict, { kind: "deny" }>,
  { signal }: Asking,
): Promise<Asked> {
  if (verdict.reason !== undefined || !lines.isTerminal) return verdict;
  const line = await lines.next("reason (optional)? ", signal);
  if (line.kind !== "line") return line;
  const reason = line.text.trim();
  return reason === "" ? verdict : { ...verdict, reason };
}

async function withPayload(lines: Lines, found: FoundConfirmation, asking: Asking): Promise<Asked> {
  const form = formOf(found.confirmation.shown);
  if (form === undefined) return { kind: "approve" };
  if (form.kind === "value") {
    const filled = await fill(lines, form.field, asking);
    if ("kind" in filled) return filled;
    return { kind: "approve", ...(filled.value === undefined ? {} : { payload: filled.value }) };
  }
  const payload: Record<string, JsonValue> = {};
  for (const field of form.fields) {
    const filled = await fill(lines, field, asking);
    if ("kind" in filled) return filled;
    if (filled.value !== undefined) payload[field.name] = filled.value;
  }
  return { kind: "approve", payload };
}

/** One field, asked again until the input is valid. */
async function fill(
  lines: Lines,
  field: Field,
  { screen, signal }: Asking,
): Promise<{ readonly value: JsonValue | undefined } | Exclude<Line, { kind: "line" }>> {
  for (;;) {
    const line = await lines.next(field.prompt, signal);
    if (line.kind !== "line") return line;
    const outcome = await field.read(line.text);
    if (outcome.ok) return { value: outcome.value };
    screen.note(`${outcome.message}.`);
  }
}
