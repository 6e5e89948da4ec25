import type { Context } from "hono";
import {
  type Confirmation,
  type ConfirmationSubject,
  cutSubject,
  type Decided,
  type DecisionInput,
  type Principal,
  type UsedUp,
} from "../../engine/index.ts";
import type { Problem } from "../../protocol/index.ts";
import type { HttpEnv } from "../env.ts";
import { bindKey } from "../idempotency/idempotency.ts";
import { StoredOutcomes } from "../idempotency/stored-outcomes.ts";
import { clientProblem, statusOf } from "../problems.ts";
import type { DecisionBody, DecisionsBody } from "../schemas/inputs.ts";
import { checkScope, hasScope } from "../scopes.ts";
import type { Site } from "../site.ts";
import { ifMatch } from "./if-match.ts";
import { recordRefusal, VIA } from "./record-refusal.ts";
import { toError } from "./refusal-error.ts";
import { find, maySee, type Seen, show, unknown } from "./visibility.ts";
import { waitForEnd } from "./wait.ts";

/** Decides one confirmation. Answers once committed, or with `wait` when the call has ended. */
export async function decideOne(
  site: Site,
  context: Context<HttpEnv>,
  about: { readonly id: string; readonly body: DecisionBody; readonly wait: number },
): Promise<Confirmation> {
  const principal = context.get("principal");
  const version = ifMatch(context, about.body.version);
  const input = toInput(about.id, version === undefined ? about.body : { ...about.body, version });
  const ledger = await site.ledger();
  const seen = await permitted(site, input.id, principal);
  const { session, call } = seen;
  const route = `/v1/confirmations/${about.id}/decision`;
  const said = { ...input };
  await bindKey(context, ledger, { principal, route, said });
  const subject = await new StoredOutcomes(context, ledger, { route, said }).judgeOnce<Decided>(0, {
    judge: (uses) => commit(site, input, { principal, seen, uses }),
    again: () => decidedBefore(site, input, principal),
  });
  const counting = await site.counting(call.app);
  const decided = show(subject, principal, counting);
  if (about.wait === 0 || decided.status === "requested") return decided;
  const waiting = site.pace.begin(principal);
  const signal = AbortSignal.any([context.req.raw.signal, site.closing]);
  await waitForEnd(ledger, call.id, { seconds: about.wait, signal, waiting }).finally(() => waiting.end());
  const now = await ledger.load({ confirmation: input.id });
  if (now?.confirmation === undefined || now.call === undefined) return decided;
  return show({ confirmation: now.confirmation, call: now.call, session }, principal, counting);
}

/** The result of one of many decisions. */
export type DecisionEntry =
  | { readonly id: string; readonly status: 200; readonly confirmation: Confirmation }
  | { readonly id: string; readonly status: number; readonly problem: Problem };

/** Decides many, independently: a refusal does not affect the others. */
export async function decideMany(
  site: Site,
  context: Context<HttpEnv>,
  { decisions }: DecisionsBody,
): Promise<readonly DecisionEntry[]> {
  const principal = context.get("principal");
  // Refused as a whole; each attempt is journalled.
  if (!hasScope(principal, "decide"))
    for (const { id } of decisions) await permitted(site, id, principal).catch(() => {});
  checkScope(principal, "decide");
  const inputs = decisions.map(({ id, ...body }) => toInput(id, body));
  const said = inputs.map((input) => ({ ...input }));
  const ledger = await site.ledger();
  const route = "/v1/decisions";
  await bindKey(context, ledger, { principal, route, said });
  const outcomes = new StoredOutcomes(context, ledger, { route, said });
  const entries: DecisionEntry[] = [];
  for (const [place, input] of inputs.entries()) {
    const judge = async (uses?: UsedUp): Promise<Decided> =>
      commit(site, input, { principal, seen: await permitted(site, input.id, principal), uses });
    const again = (): Promise<Decided> => decidedBefore(site, input, principal);
    entries.push(
      await entryOf(site, { input, principal }, () => outcomes.judgeOnce(place, { judge, again })),
    );
  }
  return entries;
}

async function entryOf(
  site: Site,
  { input, principal }: { readonly input: DecisionInput; readonly principal: Principal },
  judge: () => Promise<ConfirmationSubject>,
): Promise<DecisionEntry> {
  try {
    const decided = await judge();
    const counting = await site.counting(decided.confirmation.app);
    return { id: input.id, status: 200, confirmation: show(cutSubject(decided), principal, counting) };
  } catch (error) {
    const status = statusOf(error);
    // Thrown before this one was committed, so it affects only this one.
    if (status >= 500) site.log.error({ err: error, confirmation: input.id }, "a decision failed");
    return { id: input.id, status, problem: clientProblem(error, status) };
  }
}

/** What a request decided, as it is now: if its vote changed the arguments, the question on which that vote is. */
async function decidedBefore(site: Site, input: DecisionInput, principal: Principal): Promise<Decided> {
  const seen = await permitted(site, input.id, principal);
  const next = input.args === undefined ? undefined : seen.call.confirmation;
  const before = { ok: true, repeated: true, ...seen } as const;
  if (seen.confirmation.status !== "cancelled" || next === undefined || next === input.id) return before;
  const replaced = await permitted(site, next, principal);
  const isOwn = replaced.confirmation.votes.some(({ by }) => by.id === principal.id);
  return isOwn ? { ...before, ...replaced } : before;
}

/** The confirmation, if the principal may see it and decide here; an attempt without that right is journalled. */
async function permitted(site: Site, id: string, principal: Principal): Promise<Seen> {
  return recordRefusal(site, { principal, what: "decide", target: { confirmation: id } }, async () => {
    const found = await find(site, id, principal);
    checkScope(principal, "decide");
    return found;
  });
}

async function commit(
  site: Site,
  input: DecisionInput,
  {
    principal,
    seen,
    uses,
  }: { readonly principal: Principal; readonly seen: Seen; readonly uses: UsedUp | undefined },
): Promise<Decided> {
  const engine = await site.engine(seen.call.app);
  const outcome = await engine.decisions.decide(input, { by: principal, via: VIA }, seen, uses);
  if (outcome.ok) return outcome;
  // Its rule may have changed since it was read.
  const { confirmation } = outcome;
  if (confirmation !== undefined && !maySee(confirmation, principal, await engine.counting()))
    throw unknown(input.id);
  throw toError(outcome);
}

function toInput(id: string, body: DecisionBody): DecisionInput {
  const { confirmed, payload, reason, args, grant, version } = body;
  return {
    id,
    confirmed,
    ...(payload === undefined ? {} : { payload }),
    ...(reason === undefined ? {} : { reason }),
    ...(args === undefined ? {} : { args }),
    ...(grant === undefined ? {} : { grant }),
    ...(version === undefined ? {} : { version }),
  };
}
