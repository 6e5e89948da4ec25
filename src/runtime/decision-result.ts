import { type Confirmation, type DecisionReceipt, toConfirmation } from "../engine/index.ts";
import type { RunContext } from "./run-context.ts";
import type { Turn } from "./turn.ts";
import { watchRun } from "./watch-run.ts";

/** A committed decision. `finished` is the turn after the resume; ignoring it loses nothing. */
export interface DecisionResult {
  readonly confirmation: Confirmation;
  /** The same decision stood already. */
  readonly repeated: boolean;
  readonly finished: Promise<Turn>;
}

/** Shows a receipt to the host program. The turn is watched only if somebody asks for it. */
export async function decisionResult(
  run: RunContext,
  receipt: DecisionReceipt,
  turnOf: (sessionKey: string, invocation: string) => Promise<Turn>,
): Promise<DecisionResult> {
  const { call, confirmation, repeated } = receipt;
  const snapshot = await run.engine.ledger.load({ sessionKey: call.session });
  const by = confirmation.votes.at(-1)?.by;
  const view = toConfirmation({ confirmation, call, session: { id: snapshot?.session.id ?? "" } }, by);
  const after = (snapshot?.session.nextSeq ?? 1) - 1;
  const finished = async (): Promise<Turn> => {
    const { invocation } = confirmation;
    const watched = watchRun(run, { session: call.session, invocation, after, pieces: false });
    while ((await watched.next()).done !== true);
    return turnOf(call.session, invocation);
  };
  let watching: Promise<Turn> | undefined;
  return {
    confirmation: view,
    repeated,
    get finished() {
      watching ??= finished();
      return watching;
    },
  };
}
