import type { Context } from "hono";
import { type FailedDelivery, findFailedDelivery, noFailedDelivery } from "../../engine/index.ts";
import { isJsonObject, type JsonObject, member } from "../../protocol/index.ts";
import type { HttpEnv } from "../env.ts";
import { bindKey } from "../idempotency.ts";
import type { Site } from "../site.ts";

/**
 * Makes a message that was given up due again, as if it were new. It is sent by whichever process has its channel.
 * Gives it as it was; under one key the same every time, also once it has arrived. Throws `unknown-delivery`.
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
  // Bound before: whoever sent it first may have died before it was revived, or have lost the answer.
  const before = member(bound, "delivery");
  const delivery = isJsonObject(before) ? (before as unknown as FailedDelivery) : found;
  if (delivery === undefined) throw noFailedDelivery(named);
  await ledger.reviveDelivery(channel, sequence);
  return delivery;
}

function toJson(delivery: FailedDelivery): JsonObject {
  return { ...delivery };
}
