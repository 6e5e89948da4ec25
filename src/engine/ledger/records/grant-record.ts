import { isJsonObject, type JsonObject, member } from "../../../protocol/index.ts";
import type { Principal, Requirement } from "../../people/index.ts";
import type { ItemVersion, StoredItem } from "../key-value-store.ts";
import type { Escalation, Vote } from "./confirmation-record.ts";

/** How far a grant goes, or may go at most. */
export interface GrantLimits {
  /**
   * Where the calls are: in the session of the question, or in all sessions of the same requesters with the same agent.
   * Default: `session`.
   */
  readonly scope?: "session" | "user";
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

/** The use as it is stored with the call. It says who may settle the call, also long after the grant has ended. */
export interface StoredGrantUse extends GrantUse {
  /** What the call took of the grant's sums, as decimals, by argument. */
  readonly took: { readonly [argument: string]: string };
  /** The scope of the grant, if it is not the session. */
  readonly scope?: "user";
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
 * The right to let further calls of one tool run without asking again, for one agent and the same requesters, in one
 * session or in all of theirs. It rests on the approvals of one question, and holds only as long as they count.
 */
export interface GrantRecord {
  readonly id: string;
  /** In which it was given. */
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

/** Is it for all sessions of its requesters? */
export function isShared(limits: Pick<GrantLimits, "scope"> | undefined): boolean {
  return limits?.scope === "user";
}

/** A session's grants with this one added or changed. A new one replaces those that have ended by then. */
export function withGrant(all: readonly GrantRecord[], grant: GrantRecord): readonly GrantRecord[] {
  if (all.some(({ id }) => id === grant.id)) return all.map((one) => (one.id === grant.id ? grant : one));
  return [...all.filter(({ revoked, endsAt }) => revoked === undefined && endsAt > grant.mintedAt), grant];
}

/** The kind of the items that grants across sessions are stored as. */
export const SHARED_GRANT = "shared-grant";

/** As it is stored: from its end on it is as if it were not there. */
export function toSharedItem(grant: GrantRecord): Omit<StoredItem, "version"> {
  const value = { ...grant } as unknown as JsonObject;
  return { kind: SHARED_GRANT, id: grant.id, value, expiresAt: grant.endsAt };
}

/**
 * Reads a stored grant across sessions; undefined if it is none. Only the value is signed: a copy under another id would
 * outlive the revocation, a later expiry the end, and an earlier value in a later version would be filled up again.
 */
export function fromSharedItem({ id, value, version, expiresAt }: StoredItem): GrantRecord | undefined {
  if (!isJsonObject(value)) return undefined;
  const limits = member(value, "limits");
  if (!isJsonObject(limits) || !isShared({ scope: member(limits, "scope") as "user" })) return undefined;
  const isOwn = member(value, "id") === id && member(value, "endsAt") === expiresAt;
  return isOwn && member(value, "revision") === version ? (value as unknown as GrantRecord) : undefined;
}

/** The item that a commit relies on, as it was read. */
export function sharedVersion({ id, revision }: Pick<GrantRecord, "id" | "revision">): ItemVersion {
  return { kind: SHARED_GRANT, id, version: revision };
}
