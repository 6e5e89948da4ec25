import type { Blocked } from "../calls/index.ts";
import { storableText } from "../common/index.ts";
import type { LiveTool, ShownAgain } from "../host.ts";
import {
  type CallRecord,
  type ConfirmationRecord,
  type Conflict,
  Draft,
  type FrameRecord,
  type Snapshot,
} from "../ledger/index.ts";
import type { EngineParts } from "../parts.ts";
import { newConfirmation, writeQuestions } from "./ask.ts";
import { subjectOf, writeClosingEvent } from "./close-question.ts";
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
 * arguments still fit, people are asked again with the current definition.
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
  const message = `Withdrawn: ${blocked.reason}.`;
  const again = await showAgain(blocked, held);
  if (again === undefined) {
    return {
      draft,
      message,
      ...writeWithdrawal(parts, draft, held, { reason: blocked.reason, owner, last }),
    };
  }
  const asked = writeSuccessor(parts, draft, { held, reason: blocked.reason, again });
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

function writeSuccessor(
  parts: EngineParts,
  draft: Draft,
  { held, reason, again }: { readonly held: Held; readonly reason: string; readonly again: Again },
): { readonly call: CallRecord; readonly confirmation: ConfirmationRecord } {
  const { call, frame } = held;
  const { before, tool } = again;
  const closing = { how: "withdraw", reason } as const;
  draft.moveConfirmation(before, "withdraw", { withdrawal: storableText(reason) });
  if (before.status === "requested") writeClosingEvent(draft, { confirmation: before, call, frame, closing });
  draft.journal("confirmation-cancelled", { ...subjectOf(before, call), reason });
  const { expiresInMs = tool.asking.expiresInMs } = again;
  const confirmation = newConfirmation(parts, draft.now, {
    session: before,
    call,
    frame,
    question: {
      shown: again.shown,
      requirements: again.requirements,
      requesters: before.requesters,
      ...(expiresInMs === undefined ? {} : { expiresInMs }),
      ...(again.policy === undefined ? {} : { policy: again.policy }),
    },
  });
  const asked = draft.moveCall(call, "reask", {
    rounds: call.rounds + 1,
    definitionDigest: tool.definitionDigest,
    confirmation: confirmation.id,
  });
  writeQuestions(draft, frame, [{ call: asked, confirmation }]);
  return { call: asked, confirmation };
}
