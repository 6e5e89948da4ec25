import type { JsonObject } from "../../protocol/index.ts";
import type { AskOptions } from "../calls/index.ts";
import type { Shown } from "../ledger/index.ts";
import { defaultHint, type Question } from "../questions/index.ts";
import type { GatedTool } from "./gated-tool.ts";
import type { GatedCall } from "./judge.ts";
import { type Ruling, requirementsFor } from "./verdict.ts";

/** What a card shows besides the tool's own texts: texts of a hook or of a remote agent. */
export type CardNotes = AskOptions & Pick<Shown, "remote" | "askedByTool" | "question">;

/** The card for this call: what a person is shown. */
export function cardFor(
  tool: GatedTool,
  args: unknown,
  notes: CardNotes & Pick<Shown, "why" | "authorOnly">,
): Shown {
  const { amendable, payloadSchema, layout } = tool.confirmation;
  const { hint: given, schema: noted, authorOnly, ...more } = notes;
  const { hint, failure } = given === undefined ? hintOf(tool, args) : { hint: given };
  // The payload goes to the tool, whoever asks.
  const schema = payloadSchema ?? noted;
  return {
    ...more,
    hint,
    why: failure === undefined ? notes.why : [...notes.why, failure],
    ...(authorOnly === true ? { authorOnly } : {}),
    ...(schema === undefined ? {} : { schema }),
    ...(amendable === undefined ? {} : { amendable }),
    ...(amendable === undefined || tool.parameters === undefined ? {} : { argsSchema: tool.parameters }),
    ...(layout === undefined ? {} : { layout }),
    ...(tool.source === undefined ? {} : { source: tool.source }),
  };
}

/** The question for a ruling of `confirm`. */
export function questionFor(
  { tool, parsed, subject }: GatedCall,
  ruling: Ruling,
  notes: CardNotes,
): Question {
  const { why, authorOnly } = ruling;
  const { expiresInMs, approvers } = tool.confirmation;
  return {
    shown: cardFor(tool, parsed.value, { ...notes, why, authorOnly }),
    requirements: requirementsFor(approvers, ruling),
    requesters: subject.requesters,
    ...(expiresInMs === undefined ? {} : { expiresInMs }),
  };
}

/** The answer to a call that a policy forbids. */
export function forbiddenAnswer(why: readonly string[]): JsonObject {
  return { error: "tool call was denied by policy", reason: why.join("; ") };
}

const HINT_FAILED = "its confirmation hint failed, so the default one is shown";

// If the author's function throws, the question is still asked; the card says that it failed.
function hintOf(
  { name, confirmation }: GatedTool,
  args: unknown,
): { readonly hint: string; readonly failure?: string } {
  const fallback = defaultHint(name);
  try {
    const hint: unknown = confirmation.hint(args);
    if (typeof hint === "string") return { hint };
    if (hint === undefined || hint === null) return { hint: fallback };
  } catch {
    // Told below.
  }
  return { hint: fallback, failure: HINT_FAILED };
}
