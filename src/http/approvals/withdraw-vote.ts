import type { Context } from "hono";
import type { Confirmation, VoteWithdrawn } from "../../engine/index.ts";
import type { HttpEnv } from "../env.ts";
import { bindKey } from "../idempotency/idempotency.ts";
import { StoredOutcomes } from "../idempotency/stored-outcomes.ts";
import { checkScope } from "../scopes.ts";
import type { Site } from "../site.ts";
import { recordRefusal, VIA } from "./record-refusal.ts";
import { toError } from "./refusal-error.ts";
import { find, type Seen, show } from "./visibility.ts";

/** Withdraws the caller's own vote while the question is open. Without a vote, nothing changes. */
export async function withdrawOwnVote(
  site: Site,
  context: Context<HttpEnv>,
  id: string,
): Promise<Confirmation> {
  const principal = context.get("principal");
  const ledger = await site.ledger();
  const attempt = { principal, what: "decide", target: { confirmation: id } } as const;
  const seen = (): Promise<Seen> =>
    recordRefusal(site, attempt, async () => {
      const found = await find(site, id, principal);
      checkScope(principal, "decide");
      return found;
    });
  const engine = await site.engine((await seen()).confirmation.app);
  const route = `/v1/confirmations/${id}/vote-withdrawal`;
  await bindKey(context, ledger, { principal, route, said: {} });
  const withdrawn = await new StoredOutcomes(context, ledger, { route, said: {} }).judgeOnce<VoteWithdrawn>(
    0,
    {
      judge: async (uses) => {
        const outcome = await engine.decisions.withdrawVote(id, { by: principal, via: VIA }, uses);
        if (outcome.ok) return outcome;
        throw toError(outcome);
      },
      again: async () => ({ ok: true, repeated: true, ...(await seen()) }),
    },
  );
  return show(withdrawn, principal, await engine.counting());
}
