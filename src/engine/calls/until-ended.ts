import { CountersignError } from "../../protocol/index.ts";
import type { Ledger } from "../ledger/index.ts";
import { isAnswered } from "../lifecycle/index.ts";
import type { EngineParts } from "../parts.ts";
import { type Call, toCall } from "./call.ts";

/** Resolves when the call has ended or its outcome is unknown, wherever it runs. */
export async function untilEnded(parts: EngineParts, callId: string): Promise<Call> {
  // Keeps the process alive while somebody waits for this.
  const release = parts.clock.hold();
  try {
    for (;;) {
      await parts.executions.settled(callId);
      const change = nextChange(parts.ledger);
      const ended = await readEnded(parts.ledger, callId).catch((error: unknown) => {
        change.forget();
        throw error;
      });
      if (ended !== undefined) {
        change.forget();
        return ended;
      }
      await change.happened;
    }
  } finally {
    release();
  }
}

async function readEnded(ledger: Ledger, callId: string): Promise<Call | undefined> {
  const { call, session } = (await ledger.load({ call: callId })) ?? {};
  if (call === undefined || session === undefined)
    throw new CountersignError("unknown-call", `There is no call ${callId}.`);
  return isAnswered(call.status) || call.status === "unknown" ? toCall(call, session) : undefined;
}

function nextChange(ledger: Ledger): { readonly happened: Promise<void>; readonly forget: () => void } {
  const { promise: happened, resolve } = Promise.withResolvers<void>();
  const forget = ledger.onChange(() => {
    forget();
    resolve();
  });
  return { happened, forget };
}
