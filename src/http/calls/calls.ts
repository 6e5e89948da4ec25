import type { Context } from "hono";
import type { CallerCalls, CallerEnd, CallerOutcome, CallerRef, Principal } from "../../engine/index.ts";
import { CountersignError } from "../../protocol/index.ts";
import { actingFor } from "../acting-for.ts";
import type { HttpEnv } from "../env.ts";
import type { ClaimBody, ProofBody, ProposalBody } from "../schemas/caller-calls.ts";
import { checkScope } from "../scopes.ts";
import type { Site } from "../site.ts";
import { untilDecided } from "./wait.ts";

const DEFAULT_LEASE_SECONDS = 60;

/** Asks for a call. */
export async function proposeCall(
  site: Site,
  context: Context<HttpEnv>,
  { user, deadline, ...body }: ProposalBody,
): Promise<CallerOutcome> {
  const caller = callerOf(context);
  const by = user === undefined ? caller : actingFor(caller, user);
  const engine = await site.engine();
  const given = Object.fromEntries(Object.entries(body).filter(([, value]) => value !== undefined));
  return engine.callers.propose({
    ...(given as Omit<Parameters<CallerCalls["propose"]>[0], "by">),
    by,
    sameUser: true,
    ...(deadline === undefined ? {} : { expiresInMs: untilDeadline(deadline, engine.ledger.now) }),
  });
}

/** A caller's own call; waits up to this many seconds until it is decided or has ended. */
export async function readCall(
  site: Site,
  context: Context<HttpEnv>,
  { key, seconds }: { readonly key: string; readonly seconds: number },
): Promise<CallerOutcome> {
  const { calls, ref } = await open(site, context, key);
  const first = await calls.read(ref);
  if (seconds === 0) return first;
  const signal = AbortSignal.any([context.req.raw.signal, site.closing]);
  const ledger = await site.ledger();
  const waiting = site.pace.begin(callerOf(context));
  return untilDecided(ledger, () => calls.read(ref), { seconds, signal, waiting }).finally(() =>
    waiting.end(),
  );
}

/** Claims a call. Throws `not-claimable` if it may not start now, so that nobody runs it by mistake. */
export async function claimCall(
  site: Site,
  context: Context<HttpEnv>,
  { key, nonce, leaseSeconds = DEFAULT_LEASE_SECONDS }: ClaimBody & { readonly key: string },
): Promise<object> {
  const { calls, ref } = await open(site, context, key);
  const { outcome, claim } = await calls.claim(ref, {
    leaseMs: leaseSeconds * 1_000,
    ...(nonce === undefined ? {} : { nonce }),
  });
  if (claim === undefined) {
    throw new CountersignError("not-claimable", `This call is ${outcome.status}. ${outcome.message}`, {
      details: { hint: `GET /v1/calls/${encodeURIComponent(key)} shows it.` },
    });
  }
  const { leaseMs: _leaseMs, ...given } = claim;
  return { ...outcome, claim: { ...given, leaseSeconds } };
}

/** Renews a claim. */
export async function renewCall(
  site: Site,
  context: Context<HttpEnv>,
  {
    key,
    leaseSeconds = DEFAULT_LEASE_SECONDS,
    ...proof
  }: ProofBody & { readonly key: string; readonly leaseSeconds?: number | undefined },
): Promise<CallerOutcome> {
  const { calls, ref } = await open(site, context, key);
  await calls.heartbeat(ref, { ...proof, leaseMs: leaseSeconds * 1_000 });
  return calls.read(ref);
}

/** Records how a claimed call ended. */
export async function endCall(
  site: Site,
  context: Context<HttpEnv>,
  { key, end, ...proof }: ProofBody & { readonly key: string; readonly end: CallerEnd },
): Promise<CallerOutcome> {
  const { calls, ref } = await open(site, context, key);
  return calls.end(ref, proof, end);
}

async function open(
  site: Site,
  context: Context<HttpEnv>,
  key: string,
): Promise<{ readonly calls: CallerCalls; readonly ref: CallerRef }> {
  const { id: by } = callerOf(context);
  return { calls: (await site.engine()).callers, ref: { by, key } };
}

function callerOf(context: Context<HttpEnv>): Principal {
  const principal = context.get("principal");
  checkScope(principal, "propose");
  return principal;
}

function untilDeadline(deadline: string, now: number): number {
  const ms = Date.parse(deadline) - now;
  if (ms > 0) return Math.ceil(ms);
  throw new CountersignError("malformed-request", `The deadline ${deadline} has passed.`, {
    details: { field: "deadline" },
  });
}
