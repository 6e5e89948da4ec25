import { isJsonObject, type JsonObject, type JsonValue, member } from "../../protocol/index.ts";
import { hmac } from "../common/index.ts";
import type { StoredItem } from "../ledger/index.ts";
import type { DelegationScope, VoteDelegation } from "../people/index.ts";

/** The kind of the items that delegations are stored as. */
export const DELEGATION = "delegation";

/** As it is stored; it is gone once it is over. */
export function toItem({ version: _version, ...delegation }: VoteDelegation): Omit<StoredItem, "version"> {
  const value = JSON.parse(JSON.stringify(delegation)) as JsonObject;
  return { kind: DELEGATION, id: delegation.id, value, expiresAt: delegation.until };
}

/** A delegation, as the public API shows it. */
export interface Delegated {
  readonly id: string;
  /** Who is away. */
  readonly from: string;
  /** Who votes for them. */
  readonly to: string;
  /** Times are ISO 8601. */
  readonly since: string;
  readonly until: string;
  readonly scope?: DelegationScope;
}

/** Shows a delegation. */
export function toDelegated({ id, from, to, since, until, scope }: VoteDelegation): Delegated {
  const times = { since: new Date(since).toISOString(), until: new Date(until).toISOString() };
  return { id, from, to, ...times, ...(scope === undefined ? {} : { scope }) };
}

/** Reads a stored delegation; undefined if it is none. */
export function fromItem({ id: key, value, version, expiresAt }: StoredItem): VoteDelegation | undefined {
  if (!isJsonObject(value)) return undefined;
  const [id, from, to] = ["id", "from", "to"].map((name) => member(value, name));
  const [since, until] = ["since", "until"].map((name) => member(value, name));
  const [scope, mac] = [readScope(member(value, "scope")), member(value, "mac")];
  if (typeof id !== "string" || typeof from !== "string" || typeof to !== "string") return undefined;
  if (typeof since !== "number" || typeof until !== "number" || scope === undefined) return undefined;
  // Only the value is signed: a copy under another id would outlive the revocation, and a later expiry the end.
  if (id !== key || until !== expiresAt) return undefined;
  const limits = Object.keys(scope).length === 0 ? {} : { scope };
  return { id, from, to, since, until, ...limits, version, ...(typeof mac === "string" ? { mac } : {}) };
}

function readScope(value: JsonValue | undefined): DelegationScope | undefined {
  if (value === undefined) return {};
  if (!isJsonObject(value)) return undefined;
  const scope: { app?: readonly string[]; tool?: readonly string[] } = {};
  for (const name of ["app", "tool"] as const) {
    const patterns = member(value, name);
    if (patterns === undefined) continue;
    if (!Array.isArray(patterns) || !patterns.every((one) => typeof one === "string")) return undefined;
    scope[name] = patterns;
  }
  return scope;
}

/** Signs a delegation, so that nobody can make one in the database. */
export function delegationMac(secret: string, delegation: Omit<VoteDelegation, "version" | "mac">): string {
  const { id, from, to, since, until, scope = {} } = delegation;
  const tuple = ["delegation-v1", id, from, to, since, until, scope.app ?? null, scope.tool ?? null];
  return hmac(secret, JSON.stringify(tuple));
}
