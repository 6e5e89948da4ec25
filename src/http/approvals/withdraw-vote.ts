import type { Context } from "hono";
import type { Confirmation } from "../../engine/index.ts";
import type { HttpEnv } from "../env.ts";
import { bindKey } from "../idempotency.ts";
import { checkScope } from "../scopes.ts";
import type { Site } from "../site.ts";
import { recordRefusal, VIA } from "./record-refusal.ts";
import { toError } from "./refusal-error.ts";
import { find, show } from "./visibility.ts";

/** Withdraws the caller's own vote while the question is open. Without a vote, nothing changes. */
export async function withdrawOwnVote(
  site: Site,
  context: Context<HttpEnv>,
  id: string,
): Promise<Confirmation> {
  const principal = context.get("principal");
  const ledger = await site.ledger();
  const attempt = { principal, what: "decide", target: { confirmation: id } } as const;
  const { confirmation } = await recordRefusal(site, attempt, async () => {
    const found = await find(site, id, principal);
    checkScope(principal, "decide");
    return found;
  });
  await bindKey(context, ledger, { principal, route: `/v1/confirmations/${id}/vote-withdrawal`, said: {} });
  const engine = await site.engine(confirmation.app);
  const withdrawn = await engine.decisions.withdrawVote(id, { by: principal, via: VIA });
  if (withdrawn.ok) return show(withdrawn, principal, await engine.counting());
  throw toError(withdrawn);
}
