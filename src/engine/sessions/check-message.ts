import { CountersignError } from "../../protocol/index.ts";
import { isLedgerSuspended, suspendedError } from "../ledger/index.ts";
import type { EngineParts } from "../parts.ts";
import { judgeMessage, type MessageInput } from "./receive-message.ts";

/**
 * Throws what `receiveMessage` would refuse now, and stores nothing: for whoever changes something before the message
 * is stored. A busy session is not noticed.
 */
export async function checkMessage(parts: EngineParts, input: MessageInput): Promise<void> {
  await parts.ready();
  const { ledger, quota } = parts;
  if (await isLedgerSuspended(ledger.items)) throw suspendedError();
  const snapshot = await ledger.load({ session: input.session });
  const { value } = await quota.during((reserved) =>
    judgeMessage(parts, snapshot, { input, last: undefined, reserved }),
  );
  if (!value.ok) throw new CountersignError(value.code, value.message);
}
