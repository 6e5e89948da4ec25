import type { Context } from "hono";
import {
  type CallRecord,
  type Confirmation,
  type Principal,
  ruleOfSettling,
  type SessionRecord,
} from "../../engine/index.ts";
import { CountersignError, type JsonObject } from "../../protocol/index.ts";
import type { HttpEnv } from "../env.ts";
import { bindKey } from "../idempotency/idempotency.ts";
import type { SettlementBody } from "../schemas/inputs.ts";
import { checkScope } from "../scopes.ts";
import type { Site } from "../site.ts";
import { type CallView, showCall } from "./calls.ts";
import { recordRefusal, VIA } from "./record-refusal.ts";
import { toError } from "./refusal-error.ts";
import { find, maySee, show } from "./visibility.ts";

/** Settles the call that a confirmation is about. */
export async function settleConfirmation(
  site: Site,
  context: Context<HttpEnv>,
  { id, body }: { readonly id: string; readonly body: SettlementBody },
): Promise<Confirmation> {
  const principal = context.get("principal");
  const ledger = await site.ledger();
  const attempt = { principal, what: "settle", target: { confirmation: id } } as const;
  const found = await recordRefusal(site, attempt, () => find(site, id, principal));
  const route = `/v1/confirmations/${id}/settlement`;
  const call = await settle(site, context, { call: found.call, route, body });
  const { confirmation = found.confirmation } = (await ledger.load({ confirmation: id })) ?? {};
  return show({ confirmation, call, session: found.session }, principal, await site.counting(call.app));
}

/** Settles a call without a confirmation. */
export async function settleCall(
  site: Site,
  context: Context<HttpEnv>,
  { id, body }: { readonly id: string; readonly body: SettlementBody },
): Promise<CallView> {
  const ledger = await site.ledger();
  const principal = context.get("principal");
  const attempt = { principal, what: "settle", target: { call: id } } as const;
  const found = await recordRefusal(site, attempt, () => findCall(site, id, principal));
  const call = await settle(site, context, { call: found.call, route: `/v1/calls/${id}/settlement`, body });
  return showCall(ledger, call, found.session);
}

async function findCall(
  site: Site,
  id: string,
  principal: Principal,
): Promise<{ readonly call: CallRecord; readonly session: SessionRecord }> {
  const ledger = await site.ledger();
  const { call, session, confirmation } = (await ledger.load({ call: id })) ?? {};
  const seen =
    call !== undefined &&
    session !== undefined &&
    maySee(ruleOfSettling(call, confirmation, session.user), principal, await site.counting(call.app));
  if (seen) return { call, session };
  throw new CountersignError("unknown-call", `There is no call ${id}, or none that you may see.`);
}

async function settle(
  site: Site,
  context: Context<HttpEnv>,
  about: { readonly call: CallRecord; readonly route: string; readonly body: SettlementBody },
): Promise<CallRecord> {
  const principal = context.get("principal");
  const target = { call: about.call.id };
  await recordRefusal(site, { principal, what: "settle", target }, () => checkScope(principal, "decide"));
  const engine = await site.engine(about.call.app);
  // Bound to one attempt: a repeated request must not run the call another time.
  const note = await bindKey(context, engine.ledger, {
    principal,
    route: about.route,
    said: saidIn(about.body),
    note: { attempt: about.call.attempt },
  });
  const attempt = about.body.attempt ?? Number(note["attempt"]);
  const outcome = await engine.decisions.settle(
    target,
    { ...about.body, attempt },
    { by: principal, via: VIA },
  );
  if (!outcome.ok) throw toError(outcome);
  return outcome.call;
}

function saidIn(body: SettlementBody): JsonObject {
  const attempt = body.attempt ?? null;
  if (body.as !== "failed") return { ...body, attempt };
  const { as, error, happened } = body;
  return { as, error, attempt, ...(happened === undefined ? {} : { happened }) };
}
