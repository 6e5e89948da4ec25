import type { Blocked } from "../calls/index.ts";
import { storableText } from "../common/index.ts";
import { addSharedOf, revokeGrantsOf } from "../grants/index.ts";
import type { LiveTool, ShownAgain } from "../host.ts";
import {
  type CallChange,
  type CallRecord,
  type ConfirmationRecord,
  type Conflict,
  Draft,
  type FrameRecord,
  type Snapshot,
  type Vote,
} from "../ledger/index.ts";
import type { EngineParts } from "../parts.ts";
import { type AskedCall, newConfirmation, type Question, writeQuestions } from "./ask.ts";
import { type Closing, journalClosing, subjectOf, voteBody, writeClosingEvent } from "./close-question.ts";
import { escalateFrom, stricterTerms } from "./stricter-terms.ts";
import { writeWithdrawal } from "./write-withdrawal.ts";

type Held = Snapshot & { readonly call: CallRecord };

export interface WithdrawnQuestion {
  readonly draft: Draft;
  readonly call: CallRecord;
  readonly confirmation?: ConfirmationRecord;
  readonly stepping?: FrameRecord;
  /** Why, and what was asked instead. */
  readonly message: string;
}

/**
 * What would run is not what was shown: the question is withdrawn with that reason. If only the tool changed and the
 * arguments still fit, people are asked again with the current definition, by the stricter terms of then and now: what
 * a tool says of itself must not lower what was required.
 */
export async function takeBack(
  parts: EngineParts,
  held: Held,
  input: {
    readonly blocked: Blocked;
    readonly owner: string | undefined;
    readonly last: Conflict | undefined;
  },
): Promise<WithdrawnQuestion> {
  const { blocked, owner, last } = input;
  const draft = new Draft(parts, held.now, held.session).sync();
  await addSharedOf(parts, draft, held.confirmation);
  const message = `Withdrawn: ${blocked.reason}.`;
  const again = await showAgain(blocked, held);
  if (again === undefined) {
    return {
      draft,
      message,
      ...writeWithdrawal(parts, draft, held, { reason: blocked.reason, owner, last }),
    };
  }
  const { before, tool, shown, policy, remindAfterMs } = again;
  const { expiresInMs = tool.asking.expiresInMs } = again;
  const terms = stricterTerms(before, again, draft.now);
  const { requirements, denials } = terms;
  const asked = writeSuccessor(parts, draft, {
    held: { ...held, confirmation: before },
    closing: { how: "withdraw", reason: blocked.reason },
    question: {
      shown,
      requirements,
      requesters: before.requesters,
      ...(expiresInMs === undefined ? {} : { expiresInMs }),
      ...(policy === undefined ? {} : { policy }),
      ...(denials === undefined ? {} : { denials }),
      ...(remindAfterMs === undefined ? {} : { remindAfterMs }),
      escalate: escalateFrom(draft.now, terms),
    },
    change: { definitionDigest: tool.definitionDigest },
  });
  return { draft, message: `${message} The new question is ${asked.confirmation.id}.`, ...asked };
}

interface Again extends ShownAgain {
  readonly tool: LiveTool;
  readonly before: ConfirmationRecord;
}

// A tool that has started cannot be shown again: the old definition already did part of the work.
async function showAgain(blocked: Blocked, held: Held): Promise<Again | undefined> {
  const { call, confirmation } = held;
  const { code, tool } = blocked;
  if (code !== "definition-changed" || tool === undefined || confirmation === undefined || call.attempt > 0)
    return undefined;
  const again = await tool.showAgain?.(held);
  return again === undefined ? undefined : { ...again, tool, before: confirmation };
}

/** A question in the place of another one about the same call. */
export interface Successor {
  readonly held: Held & { readonly confirmation: ConfirmationRecord };
  /** Why the one before is withdrawn, and by whom if a person's act withdrew it. */
  readonly closing: Extract<Closing, { how: "withdraw" }>;
  readonly question: Question;
  /** What changes in the call with it. */
  readonly change?: Omit<CallChange, "status">;
  /** A vote that the question already has, once it has its id. */
  readonly vote?: (confirmation: ConfirmationRecord, call: CallRecord) => Vote;
}

/** Withdraws a question and asks another one about the same call. */
export function writeSuccessor(
  parts: EngineParts,
  draft: Draft,
  { held, closing, question, change = {}, vote }: Successor,
): AskedCall {
  const { call, frame, confirmation: before } = held;
  draft.moveConfirmation(before, "withdraw", {
    withdrawal: storableText(closing.reason),
    ...(vote === undefined ? {} : { deadline: "ahead" as const }),
  });
  if (before.status === "requested") writeClosingEvent(draft, { confirmation: before, call, frame, closing });
  revokeGrantsOf(parts, draft, before, closing.decider);
  journalClosing(draft, { confirmation: before, call, closing });
  const { argsDigest = call.argsDigest } = change;
  const about = { session: before, call: { ...call, argsDigest }, frame, question };
  const asked = newConfirmation(parts, draft.now, about);
  const update = { ...change, rounds: call.rounds + 1, confirmation: asked.id };
  const moved = draft.moveCall(call, "reask", update);
  const cast = vote?.(asked, moved);
  const confirmation = cast === undefined ? asked : { ...asked, votes: [cast] };
  writeQuestions(draft, frame, [{ call: moved, confirmation, policy: question.policy }]);
  if (cast !== undefined)
    draft.journal("vote-cast", { ...subjectOf(confirmation, moved), ...voteBody(cast) });
  return { call: moved, confirmation };
}
