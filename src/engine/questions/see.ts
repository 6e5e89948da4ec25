import type { Decider } from "../decisions/index.ts";
import { type CallRecord, type ConfirmationRecord, Draft, type Snapshot, transact } from "../ledger/index.ts";
import type { EngineParts } from "../parts.ts";
import { personOf } from "../people/index.ts";
import { subjectOf } from "./close-question.ts";

/** A question with its call and session, as somebody has seen it. */
export interface Seen extends Snapshot {
  readonly confirmation: ConfirmationRecord;
  readonly call: CallRecord;
}

/** More people than take part in any decision. The limit keeps a question small, however many people open it. */
const MOST_SIGHTINGS = 50;

/**
 * Notes that somebody has opened a question, once for each person and only while it is open. Agents are not noted. What is
 * shown stays the same, and so does its version: a decision on it is not affected. Undefined if there is no such question.
 */
export async function noteSighting(
  parts: EngineParts,
  id: string,
  { by, via }: Decider,
): Promise<Seen | undefined> {
  const person = personOf(by, parts.directory);
  return transact<Seen | undefined>(parts, { confirmation: id }, (snapshot) => {
    const { confirmation: before, call } = snapshot ?? {};
    if (snapshot === undefined || before === undefined || call === undefined) return { value: undefined };
    const seen = before.seen ?? [];
    const isNoted = seen.some((one) => one.person === person) || seen.length >= MOST_SIGHTINGS;
    if (before.status !== "requested" || by.kind === "agent" || isNoted)
      return { value: { ...snapshot, confirmation: before, call } };
    const draft = new Draft(parts, snapshot.now, snapshot.session);
    const who = { by: { id: by.id, kind: by.kind, authenticated: by.authenticated }, person, via };
    const confirmation = draft.changeConfirmation(before, { seen: [...seen, { ...who, at: snapshot.now }] });
    draft.journal("confirmation-seen", { ...subjectOf(before, call), ...who });
    return { draft, value: { ...snapshot, session: draft.sessionAfter, confirmation, call } };
  });
}
