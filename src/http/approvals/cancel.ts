import type { Context } from "hono";
import type { Confirmation } from "../../engine/index.ts";
import type { HttpEnv } from "../env.ts";
import { bindKey } from "../idempotency/idempotency.ts";
import { checkScope } from "../scopes.ts";
import type { Site } from "../site.ts";
import { recordRefusal, VIA } from "./record-refusal.ts";
import { toError } from "./refusal-error.ts";
import { find, show } from "./visibility.ts";

const NO_REASON = "no longer wanted";

/**
 * Withdraws a question, or an approval whose call has not started. If the same person repeats it, the stored one is
 * returned.
 */
export async function cancelOne(
  site: Site,
  context: Context<HttpEnv>,
  { id, reason = NO_REASON }: { readonly id: string; readonly reason?: string | undefined },
): Promise<Confirmation> {
  const principal = context.get("principal");
  const ledger = await site.ledger();
  const attempt = { principal, what: "cancel", target: { confirmation: id } } as const;
  const { confirmation } = await recordRefusal(site, attempt, async () => {
    const found = await find(site, id, principal);
    checkScope(principal, "decide");
    return found;
  });
  await bindKey(context, ledger, {
    principal,
    route: `/v1/confirmations/${id}/cancellation`,
    said: { reason },
  });
  const engine = await site.engine(confirmation.app);
  const cancelled = await engine.decisions.cancel(id, { by: principal, via: VIA, reason });
  if (cancelled.ok) return show(cancelled, principal, await site.counting(cancelled.call.app));
  throw toError(cancelled);
}
