import type { Principal, Requirement } from "../people/index.ts";
import type { Escalation, Vote } from "./records.ts";

/** How far a grant goes, or may go at most. */
export interface GrantLimits {
  /** How long it lasts. */
  readonly forMs: number;
  /** How many calls it lets run. */
  readonly count: number;
  /** The most that these arguments may add up to, by their names, over all of those calls. */
  readonly sum?: { readonly [argument: string]: number };
  /** Conditions over `args`, in CEL, that each of those calls must meet. */
  readonly where?: readonly string[];
}

/** Which grant let a call run, and who gave it. */
export interface GrantUse {
  readonly id: string;
  readonly by: readonly string[];
}

/** The use as it is stored with the call: who may settle the call, as the grant says, also when that is long over. */
export interface StoredGrantUse extends GrantUse {
  /** What the call took of the grant's sums, as decimals, by argument. */
  readonly took: { readonly [argument: string]: string };
  readonly requirements: readonly Requirement[];
  readonly requesters: readonly string[];
  readonly escalations?: readonly Escalation[];
}

/** A vote that a grant rests on: without its texts, payload and signature. */
export type GrantApproval = Omit<Vote, "reason" | "payload" | "args" | "sentDigest" | "mac" | "grant">;

/** Who ended a grant before its time, or why that was done without anybody. */
export interface GrantRevocation {
  readonly at: number;
  readonly reason?: string;
  readonly by?: Pick<Principal, "id" | "kind" | "authenticated">;
  readonly via?: string;
}

/**
 * The right to let further calls of one tool run without asking again, in one session, for one agent and the same
 * requesters. It rests on the approvals of one question, and holds only as long as they count.
 */
export interface GrantRecord {
  readonly id: string;
  readonly session: string;
  readonly app: string;
  readonly agent: string;
  readonly tool: string;
  readonly definitionDigest: string;
  /** The question whose approval gave it. */
  readonly confirmation: string;
  readonly requesters: readonly string[];
  /** The rules and gates that asked: a call about which something else asks is not covered. */
  readonly askedBy: readonly string[];
  readonly requirements: readonly Requirement[];
  readonly escalations?: readonly Escalation[];
  readonly approvals: readonly GrantApproval[];
  readonly limits: GrantLimits;
  readonly mintedAt: number;
  /** By the ledger's clock. */
  readonly endsAt: number;
  readonly uses: number;
  /** The sums so far, as decimals, by argument. */
  readonly spent: { readonly [argument: string]: string };
  /** How many uses were given back, because their calls did not happen. */
  readonly refunds?: number;
  /** Counts its changes: a change names the one that it was judged on. */
  readonly revision: number;
  readonly revoked?: GrantRevocation;
  /** Over everything above, when the engine has a secret. */
  readonly mac?: string;
}

/** A session's grants with this one in its place. A new one takes the place of those that are over by then. */
export function withGrant(all: readonly GrantRecord[], grant: GrantRecord): readonly GrantRecord[] {
  if (all.some(({ id }) => id === grant.id)) return all.map((one) => (one.id === grant.id ? grant : one));
  return [...all.filter(({ revoked, endsAt }) => revoked === undefined && endsAt > grant.mintedAt), grant];
}
