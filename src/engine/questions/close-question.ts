import type { ConfirmationClosing } from "../../protocol/index.ts";
import { storableText } from "../common/index.ts";
import type { Decider } from "../decisions/index.ts";
import { cancelledAnswer, deniedAnswer, EXPIRED_ANSWER, writeAnswer } from "../frames/index.ts";
import { revokeGrantsFor, revokeGrantsOf } from "../grants/index.ts";
import type { AboutQuestion, ActedBy, VoteCast } from "../journal/index.ts";
import type { CallRecord, ConfirmationRecord, Conflict, Draft, FrameRecord, Vote } from "../ledger/index.ts";
import type { EngineParts } from "../parts.ts";

/** How a question ends without an approval. */
export type Closing =
  /** `votes`: as they are with it; `ended`: whose votes ended with it. */
  | {
      readonly how: "deny";
      readonly vote: Vote;
      readonly votes: readonly Vote[];
      readonly ended: readonly string[];
    }
  | { readonly how: "expire" }
  /** By a person, if there is a decider; otherwise for the given reason. */
  | { readonly how: "withdraw"; readonly reason: string; readonly decider?: Decider };

export interface CloseInput {
  readonly confirmation: ConfirmationRecord;
  readonly call: CallRecord;
  readonly frame: FrameRecord | undefined;
  readonly closing: Closing;
  readonly owner: string | undefined;
  readonly last: Conflict | undefined;
}

export interface Closed {
  readonly confirmation: ConfirmationRecord;
  readonly call: CallRecord;
  readonly stepping?: FrameRecord;
}

const CALL_COMMAND = { deny: "deny", expire: "expire", withdraw: "cancel" } as const;

/** Closes a question that was not approved and gives its call the answer the model will see. */
export function writeClosing(parts: EngineParts, draft: Draft, input: CloseInput): Closed {
  const { confirmation, call, frame, closing } = input;
  const closed = draft.moveConfirmation(confirmation, closing.how, {
    ...(closing.how === "deny" ? { votes: closing.votes, deadline: "ahead" as const } : {}),
    ...(closing.how === "expire" ? { deadline: "passed" as const } : {}),
    ...(closing.how === "withdraw" ? { withdrawal: storableText(closing.reason) } : {}),
  });
  if (confirmation.status === "requested") writeClosingEvent(draft, input);
  if (closing.how === "withdraw") revokeGrantsOf(parts, draft, confirmation, closing.decider);
  if (closing.how === "deny") revokeGrantsFor(parts, draft, confirmation, closing.vote);
  journalClosing(draft, input);
  if (invokesOnDenial(input))
    return { confirmation: closed, call: draft.moveCall(call, "refuse", { refused: true }) };
  const result =
    closing.how === "deny"
      ? deniedAnswer(closing.vote.reason)
      : closing.how === "expire"
        ? EXPIRED_ANSWER
        : cancelledAnswer(closing.reason, call);
  const command = CALL_COMMAND[closing.how];
  const answered = writeAnswer(parts, draft, {
    call,
    frame,
    command,
    result,
    owner: input.owner,
    last: input.last,
  });
  return { confirmation: closed, ...answered };
}

// Only a tool that asked while running, and therefore already ran, may word its own denial.
function invokesOnDenial({ confirmation, call, closing }: CloseInput): boolean {
  return (
    closing.how !== "withdraw" && call.status === "suspended" && confirmation.shown.onDenied === "invoke"
  );
}

interface ClosedQuestion {
  readonly confirmation: ConfirmationRecord;
  readonly call: CallRecord;
  readonly frame: FrameRecord | undefined;
  readonly closing: Closing | { readonly how: "approve"; readonly vote: Vote };
}

/** Adds an event that the question is closed, so that every client that reloads sees it. */
export function writeClosingEvent(draft: Draft, input: ClosedQuestion): void {
  const { frame } = input;
  if (frame === undefined) return;
  draft.event({
    author: "user",
    invocationId: frame.invocation,
    ...(frame.branch === undefined ? {} : { branch: frame.branch }),
    closings: [closingOf(input)],
  });
}

function closingOf({ confirmation, call, closing }: ClosedQuestion): ConfirmationClosing {
  const vote = closing.how === "approve" || closing.how === "deny" ? closing.vote : undefined;
  const reason = closing.how === "withdraw" ? closing.reason : vote?.reason;
  return {
    id: confirmation.id,
    callId: call.wireId,
    ...(confirmation.round === 0 ? {} : { later: true }),
    confirmed: closing.how === "approve",
    ...(closing.how === "expire" ? { closedBy: "expiry" } : {}),
    ...(closing.how === "withdraw" ? { closedBy: "withdrawal" } : {}),
    ...(reason === undefined ? {} : { reason }),
    ...(vote?.payload === undefined ? {} : { payload: vote.payload }),
  };
}

/** Journals that a question was closed without an approval. */
export function journalClosing(
  draft: Draft,
  { confirmation, call, closing }: Pick<CloseInput, "confirmation" | "call" | "closing">,
): void {
  const subject = subjectOf(confirmation, call);
  switch (closing.how) {
    case "deny":
      draft.journal("confirmation-denied", { ...subject, ...voteBody(closing.vote, closing.ended) });
      return;
    case "expire":
      draft.journal("confirmation-expired", subject);
      return;
    case "withdraw": {
      const { reason, decider } = closing;
      draft.journal("confirmation-cancelled", { ...subject, reason, ...deciderBody(decider) });
    }
  }
}

function deciderBody(decider: Decider | undefined): Partial<ActedBy> {
  if (decider === undefined) return {};
  const { id, kind, authenticated } = decider.by;
  return { by: { id, kind, authenticated }, via: decider.via };
}

/** What every journal record about a question says of it. */
export function subjectOf(confirmation: ConfirmationRecord, call: CallRecord): AboutQuestion {
  return {
    confirmation: confirmation.id,
    call: call.id,
    tool: call.tool,
    round: confirmation.round,
    argsDigest: call.argsDigest,
  };
}

/** A vote, in the journal's form. The payload may contain anything a person typed, so it stays in the vote's row. */
export function voteBody(vote: Vote, ended: readonly string[] = []): VoteCast {
  const { id, kind, authenticated, onBehalfOf } = vote.by;
  return {
    confirmed: vote.confirmed,
    person: vote.person,
    ...(vote.slot === undefined ? {} : { slot: vote.slot }),
    ...(vote.delegated === undefined ? {} : { delegated: vote.delegated }),
    by: { id, kind, authenticated, ...(onBehalfOf === undefined ? {} : { onBehalfOf }) },
    via: vote.via,
    ...(ended.length === 0 ? {} : { ended }),
    ...(vote.reason === undefined ? {} : { reason: vote.reason }),
    ...(vote.grant === undefined ? {} : { grant: vote.grant }),
    ...(vote.mac === undefined ? {} : { mac: vote.mac }),
  };
}
