import type { JsonObject } from "../../protocol/index.ts";
import type { AskOptions } from "../calls/index.ts";
import type { Shown } from "../ledger/index.ts";
import type { Approvers, Requirement } from "../people/index.ts";
import { defaultHint, type Question } from "../questions/index.ts";
import { escalationsFor } from "./escalations.ts";
import type { GatedTool } from "./gated-tool.ts";
import type { GatedCall } from "./judge.ts";
import { type Ruling, requirementsFor } from "./verdict.ts";

/** What a card shows besides the tool's own texts: texts of a hook or of a remote agent. */
export type CardNotes = AskOptions &
  Pick<Shown, "remote" | "askedByTool" | "question"> & {
    /** Said after the question, whoever words it. */
    readonly note?: string;
  };

/** The card for this call: what a person is shown. */
export function cardFor(
  tool: GatedTool,
  args: unknown,
  notes: CardNotes & Pick<Shown, "why" | "authorOnly">,
  ruled: Pick<Ruling, "hint" | "amendable"> = {},
): Shown {
  const { payloadSchema, layout } = tool.confirmation;
  const { schema: noted, authorOnly, hint: told, note, ...more } = notes;
  const given = told ?? ruled.hint;
  const { hint, failure } = given === undefined ? hintOf(tool, args) : { hint: given };
  // The payload goes to the tool, whoever asks.
  const schema = payloadSchema ?? noted;
  return {
    ...more,
    hint: note === undefined ? hint : `${hint} ${note}`,
    why: failure === undefined ? notes.why : [...notes.why, failure],
    ...(authorOnly === true ? { authorOnly } : {}),
    ...(schema === undefined ? {} : { schema }),
    ...changesTo(tool, ruled),
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
  const { why, authorOnly, policy, notify } = ruling;
  const { expiresInMs, approvers, insteadOfRequester } = tool.confirmation;
  const requirements = requirementsFor(approvers, ruling, insteadOfRequester);
  const shown = cardFor(tool, parsed.value, { ...notes, why, authorOnly }, ruling);
  return {
    shown,
    requirements,
    requesters: subject.requesters,
    ...(policy === undefined ? {} : { policy }),
    ...askingTerms(approvers, ruling, requirements),
    ...expiryOf(expiresInMs, ruling),
    ...grantable(ruling, shown),
    ...(isMailable(tool, ruling, shown) ? { byMail: true } : {}),
    // People whom the author names may have no address in the channels of a rule.
    ...(notify === undefined || approvers !== "requester" ? {} : { notify }),
  };
}

// People whom the author or nobody names log in, and a payload is filled in where its form is.
function isMailable({ confirmation }: GatedTool, ruling: Ruling, { schema, payload }: Shown): boolean {
  const { approvers, insteadOfRequester } = confirmation;
  const { byMail, requirements } = ruling;
  const isFree = schema === undefined && payload === undefined;
  const named = requirements.length > 0 && requirements.every(({ from }) => from !== "requester");
  return (
    byMail === true && approvers === "requester" && (named || insteadOfRequester === undefined) && isFree
  );
}

// A call whose function needs what an approver fills in cannot run without an approver.
function grantable(
  { grants, askedBy = [] }: Ruling,
  { schema, payload }: Shown,
): Pick<Question, "grants" | "askedBy"> {
  return grants === undefined || schema !== undefined || payload !== undefined ? {} : { grants, askedBy };
}

/** How rules want people to be asked, beside who and until when. */
export function askingTerms(
  author: Approvers,
  ruling: Ruling,
  required: readonly Requirement[],
): Pick<Question, "denials" | "remindAfterMs" | "escalate"> {
  const { denials, remindAfterMs, sources = [] } = ruling;
  const escalate = escalationsFor(author, sources, required);
  return {
    // Of the people whom the author names, one denies alone: a rule is never less strict than the author.
    ...(denials === undefined || author !== "requester" ? {} : { denials }),
    ...(remindAfterMs === undefined ? {} : { remindAfterMs }),
    ...(escalate.length === 0 ? {} : { escalate }),
  };
}

/** How long the question stays open: the shorter time of the tool's author and the rules. */
export function expiryOf(
  author: number | undefined,
  { expiresInMs: ruled }: Ruling,
): Pick<Question, "expiresInMs"> {
  const times = [author, ruled].filter((time) => time !== undefined);
  return times.length === 0 ? {} : { expiresInMs: Math.min(...times) };
}

function changesTo(
  { confirmation, parameters }: GatedTool,
  ruled: Pick<Ruling, "amendable">,
): Pick<Shown, "amendable" | "argsSchema"> {
  const amendable = narrowed(confirmation.amendable, ruled.amendable);
  if (amendable === undefined) return {};
  return { amendable, ...(parameters === undefined ? {} : { argsSchema: parameters }) };
}

// A rule may only take away what the author lets approvers change.
function narrowed(
  author: true | readonly string[] | undefined,
  ruled: readonly string[] | undefined,
): true | readonly string[] | undefined {
  if (author === undefined || ruled === undefined) return author;
  const names = author === true ? ruled : author.filter((name) => ruled.includes(name));
  return names.length === 0 ? undefined : names;
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
