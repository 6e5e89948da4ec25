import { type CallRecord, type ConfirmationRecord, Draft, transact } from "../ledger/index.ts";
import type { EngineParts } from "../parts.ts";
import { dueAt } from "../people/index.ts";
import { subjectOf } from "./close-question.ts";

/**
 * Writes the reminders and escalations of one question that are due by the ledger's clock, and does nothing if none is.
 * The question's rule and the clock alone say who may decide when; this only tells people, through the journal.
 */
export async function announce(parts: EngineParts, id: string): Promise<void> {
  await transact<void>(parts, { confirmation: id }, (snapshot) => {
    const { confirmation, call } = snapshot ?? {};
    if (snapshot === undefined || confirmation === undefined || call === undefined)
      return { value: undefined };
    if (!isDue(confirmation, snapshot.now)) return { value: undefined };
    const draft = new Draft(parts, snapshot.now, snapshot.session);
    writeDue(draft, confirmation, call);
    return { draft, value: undefined };
  });
}

function isDue(confirmation: ConfirmationRecord, now: number): boolean {
  const { status, expiresAt = Number.POSITIVE_INFINITY } = confirmation;
  const due = dueAt(confirmation) ?? Number.POSITIVE_INFINITY;
  return status === "requested" && due <= now && now < expiresAt;
}

function writeDue(draft: Draft, confirmation: ConfirmationRecord, call: CallRecord): void {
  const { now } = draft;
  const { reminders = [], escalations = [] } = confirmation;
  const subject = subjectOf(confirmation, call);
  // If several reminders were missed, people get one.
  const reminder = reminders.findLast(({ at, sent }) => !sent && at <= now);
  if (reminder !== undefined) draft.journal("confirmation-reminded", { ...subject, due: reminder.at });
  for (const { at: due, to, group } of escalations.filter(({ at, reached }) => !reached && at <= now)) {
    const people = { to, ...(group === undefined ? {} : { group }) };
    draft.journal("confirmation-escalated", { ...subject, ...people, due });
  }
  draft.changeConfirmation(confirmation, {
    ...(reminders.length === 0
      ? {}
      : { reminders: reminders.map(({ at, sent }) => ({ at, sent: sent || at <= now })) }),
    ...(escalations.length === 0
      ? {}
      : { escalations: escalations.map((one) => ({ ...one, reached: one.reached || one.at <= now })) }),
  });
}
