import type { GrantLimits, GrantRecord, Page, PageRequest, SessionRecord } from "../ledger/index.ts";
import type { EngineParts } from "../parts.ts";
import { type Counting, mayDecide, mayJudge, type Principal } from "../people/index.ts";
import { givers } from "./mint.ts";

export type GrantStatus = "active" | "used-up" | "ended" | "revoked";

/** A grant as people see it. */
export interface Grant {
  readonly id: string;
  readonly status: GrantStatus;
  readonly app: string;
  readonly agent: string;
  readonly tool: string;
  readonly session: string;
  /** For whom the calls are made. */
  readonly user: string;
  /** The question whose approval gave it. */
  readonly confirmation: string;
  /** Who gave it. */
  readonly by: readonly string[];
  readonly limits: GrantLimits;
  readonly uses: number;
  /** The sums so far, as decimals, by argument. */
  readonly spent: { readonly [argument: string]: string };
  /** How many uses were given back, because their calls did not happen. */
  readonly refunds?: number;
  readonly mintedAt: string;
  readonly endsAt: string;
  readonly revoked?: { readonly at: string; readonly by?: string; readonly reason?: string };
}

/**
 * May this principal see and revoke the grant? Those who may decide such a call may, administrators, and those who are at
 * this machine. Never an agent.
 */
export function mayRevoke(grant: GrantRecord, principal: Principal, counting: Counting): boolean {
  const { kind, scopes } = principal;
  if (kind === "agent") return false;
  if (kind === "local" || scopes.includes("admin")) return true;
  return mayJudge(principal) && mayDecide(grant, principal, counting);
}

/** The grants that are neither over nor revoked and that this principal may revoke, nearest end first. */
export async function listGrants(
  { ledger, directory }: Pick<EngineParts, "ledger" | "directory">,
  by: Principal,
  page?: PageRequest,
): Promise<Page<Grant>> {
  const { now } = ledger;
  const where = (grant: GrantRecord): boolean => mayRevoke(grant, by, { directory, now });
  const { items, ...more } = await ledger.grants({ ...page, where });
  return { ...more, items: items.map(({ grant, session }) => toGrant(grant, session, now)) };
}

export function toGrant(
  grant: GrantRecord,
  { id: session, user }: Pick<SessionRecord, "id" | "user">,
  now: number,
): Grant {
  const { id, app, agent, tool, confirmation, limits, uses, spent, mintedAt, endsAt, revoked } = grant;
  const { refunds } = grant;
  return {
    id,
    status: statusOf(grant, now),
    app,
    agent,
    tool,
    session,
    user: grant.requesters.at(-1) ?? user,
    confirmation,
    by: givers(grant),
    limits,
    uses,
    spent,
    ...(refunds === undefined ? {} : { refunds }),
    mintedAt: new Date(mintedAt).toISOString(),
    endsAt: new Date(endsAt).toISOString(),
    ...(revoked === undefined ? {} : { revoked: toRevocation(revoked) }),
  };
}

function toRevocation({
  at,
  by,
  reason,
}: NonNullable<GrantRecord["revoked"]>): NonNullable<Grant["revoked"]> {
  return {
    at: new Date(at).toISOString(),
    ...(by === undefined ? {} : { by: by.id }),
    ...(reason === undefined ? {} : { reason }),
  };
}

function statusOf({ revoked, endsAt, uses, limits }: GrantRecord, now: number): GrantStatus {
  if (revoked !== undefined) return "revoked";
  if (endsAt <= now) return "ended";
  return uses < limits.count ? "active" : "used-up";
}
