import type { Context } from "hono";
import { type IdempotentRequest, type Ledger, valueDigest } from "../../engine/index.ts";
import type { JsonValue } from "../../protocol/index.ts";
import type { HttpEnv } from "../env.ts";
import { idempotencyKey } from "./idempotency.ts";

/** A request with its sender's key, whose result is stored in the same commit. `ownKey`: one that is in the request. */
export function onceOf(
  context: Context<HttpEnv>,
  {
    route,
    ledger,
    body,
    ownKey,
  }: {
    readonly route: string;
    readonly ledger: Ledger;
    readonly body: JsonValue;
    readonly ownKey?: string;
  },
): IdempotentRequest | undefined {
  const key = idempotencyKey(context) ?? ownKey;
  if (key === undefined) return undefined;
  const { kind, id } = context.get("principal");
  return { principal: `${kind}:${id}`, route, key, requestDigest: valueDigest(ledger.digestKey, body) };
}
