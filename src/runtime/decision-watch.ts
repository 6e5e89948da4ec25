import type { Ledger } from "../engine/index.ts";

/** Tells when somebody, anywhere, has closed a confirmation. */
export interface DecisionWatch {
  readonly signal: AbortSignal;
  /** Resolves, with nothing, when it is closed. */
  readonly happened: Promise<undefined>;
  readonly forget: () => void;
}

export function watchDecision(ledger: Ledger, confirmationId: string): DecisionWatch {
  const controller = new AbortController();
  const { promise: happened, resolve } = Promise.withResolvers<undefined>();
  const look = async (): Promise<void> => {
    const snapshot = await ledger.load({ confirmation: confirmationId });
    if (snapshot?.confirmation?.status === "requested") return;
    forget();
    controller.abort("decided elsewhere");
    resolve(undefined);
  };
  // A look that fails is made up for by the next change; until then the provider is merely not interrupted.
  const forget = ledger.onChange(() => {
    look().catch(() => {});
  });
  return { signal: controller.signal, happened, forget };
}
