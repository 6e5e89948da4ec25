import type { RunContext } from "../run-context.ts";

/** Tells a provider when its answer is no longer needed. */
export interface DecisionWatch {
  /** Aborts when somebody, anywhere, has closed the question, or the Runner is being closed. */
  readonly signal: AbortSignal;
  /** Resolves, with nothing, at the same time. */
  readonly over: Promise<undefined>;
  readonly forget: () => void;
}

export function watchDecision({ engine, closing }: RunContext, confirmationId: string): DecisionWatch {
  const { ledger } = engine;
  const controller = new AbortController();
  const { promise: over, resolve } = Promise.withResolvers<undefined>();
  const end = (reason: string): void => {
    forget();
    controller.abort(reason);
    resolve(undefined);
  };
  const look = async (): Promise<void> => {
    const snapshot = await ledger.load({ confirmation: confirmationId });
    if (snapshot?.confirmation?.status !== "requested") end("decided elsewhere");
  };
  // A failed check is repeated at the next change; until then the provider is not interrupted.
  const lookAgain = (): void => void look().catch(() => {});
  const onClosing = (): void => end("the Runner is closing");
  const stopChanges = ledger.onChange(lookAgain);
  closing.addEventListener("abort", onClosing, { once: true });
  const forget = (): void => {
    stopChanges();
    closing.removeEventListener("abort", onClosing);
  };
  // It may have been closed before anybody watched.
  if (closing.aborted) onClosing();
  else lookAgain();
  return { signal: controller.signal, over, forget };
}
