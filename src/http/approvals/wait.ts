import { isAnswered, type Ledger } from "../../engine/index.ts";
import type { Waiting } from "../../runtime/index.ts";

/** Resolves when the call has ended, here or elsewhere, or the time is up, or the client is gone. */
export async function waitForEnd(
  ledger: Pick<Ledger, "calls" | "onChange">,
  callId: string,
  {
    seconds,
    signal,
    waiting,
  }: { readonly seconds: number; readonly signal: AbortSignal; readonly waiting: Waiting },
): Promise<void> {
  const over = AbortSignal.any([AbortSignal.timeout(seconds * 1000), signal]);
  const { promise: gaveUp, resolve: giveUp } = Promise.withResolvers<void>();
  over.addEventListener("abort", () => giveUp(), { once: true });
  while (!over.aborted) {
    const { promise: woken, resolve } = Promise.withResolvers<void>();
    // Subscribes before it reads, so that no change in between is missed.
    const forget = ledger.onChange(resolve);
    try {
      const [call] = await ledger.calls([callId]);
      if (call === undefined || isAnswered(call.status) || call.status === "unknown") return;
      await Promise.race([woken, gaveUp]);
      await Promise.race([waiting.pause(), gaveUp]);
    } finally {
      forget();
    }
  }
}
