import type { Context } from "hono";
import { type FailedDelivery, findFailedDelivery, noFailedDelivery } from "../../engine/index.ts";
import { isJsonObject, type JsonObject, member } from "../../protocol/index.ts";
import type { HttpEnv } from "../env.ts";
import { bindKey } from "../idempotency/idempotency.ts";
import type { Site } from "../site.ts";

/**
 * Retries a failed delivery, as if it were new. Any process that has the channel sends it. Returns the failed delivery;
 * with one key the same every time, also after it has arrived. Throws `unknown-delivery`.
 */
export async function retryOne(
  site: Site,
  context: Context<HttpEnv>,
  named: Pick<FailedDelivery, "channel" | "sequence">,
): Promise<FailedDelivery> {
  const { channel, sequence } = named;
  const ledger = await site.ledger();
  const found = await findFailedDelivery(ledger, named);
  const bound = await bindKey(context, ledger, {
    principal: context.get("principal"),
    route: `/v1/deliveries/${channel}/${sequence}/retry`,
    said: {},
    note: found === undefined ? {} : { delivery: toJson(found) },
  });
  // Already bound: the first request may have died before the retry, or its answer was lost.
  const before = member(bound, "delivery");
  const delivery = isJsonObject(before) ? (before as unknown as FailedDelivery) : found;
  if (delivery === undefined) throw noFailedDelivery(named);
  await ledger.outbox.reviveDelivery(channel, sequence);
  return delivery;
}

function toJson(delivery: FailedDelivery): JsonObject {
  return { ...delivery };
}
