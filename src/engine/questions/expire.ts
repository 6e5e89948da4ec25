import {
  type CallRecord,
  type ConfirmationRecord,
  type Conflict,
  Draft,
  type FrameRecord,
  transact,
} from "../ledger/index.ts";
import type { EngineParts } from "../parts.ts";
import { type Closed, writeClosing } from "./close-question.ts";

interface ExpiryInput {
  readonly confirmation: ConfirmationRecord;
  readonly call: CallRecord;
  readonly frame?: FrameRecord;
  readonly owner: string | undefined;
  readonly last: Conflict | undefined;
}

/** Records that nobody decided in time. This is never recorded as a person's denial. */
export function writeExpiry(parts: EngineParts, draft: Draft, input: ExpiryInput): Closed {
  const { confirmation, call, frame, owner, last } = input;
  return writeClosing(parts, draft, { confirmation, call, frame, closing: { how: "expire" }, owner, last });
}

/** Expires one confirmation if its deadline has passed by the ledger's clock; otherwise does nothing. */
export async function expire(parts: EngineParts, id: string): Promise<Closed | undefined> {
  return transact<Closed | undefined>(parts, { confirmation: id }, async (snapshot, last) => {
    const { confirmation, call, frame, now, session } = snapshot ?? {};
    if (confirmation === undefined || call === undefined || session === undefined || now === undefined)
      return { value: undefined };
    const due =
      confirmation.status === "requested" && (confirmation.expiresAt ?? Number.POSITIVE_INFINITY) <= now;
    if (!due) return { value: undefined };
    const owner = parts.hosts.size === 0 ? undefined : await parts.lease.hold();
    const draft = new Draft(parts, now, session);
    const value = writeExpiry(parts, draft, {
      confirmation,
      call,
      ...(frame === undefined ? {} : { frame }),
      owner,
      last,
    });
    return { draft, value };
  });
}
