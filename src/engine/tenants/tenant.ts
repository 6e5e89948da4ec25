import { isJsonObject, type JsonObject, type JsonValue, member } from "../../protocol/index.ts";
import type { StoredItem } from "../ledger/index.ts";

/**
 * `creating`, `suspending`, `resuming` and `erasing` are on the way: the command that began was not finished, and is run
 * again. Only an `active` tenant is served.
 */
export type TenantState =
  | "creating"
  | "active"
  | "suspending"
  | "suspended"
  | "resuming"
  | "erasing"
  | "erased";

/** What one tenant may use. What is left out has no limit of its own. */
export interface TenantLimits {
  /** Questions that wait for an answer. */
  readonly pending?: number;
  readonly sessions?: number;
  /** In one process. */
  readonly requestsPerMinute?: number;
  /** What is stored, about. */
  readonly bytes?: number;
}

/** A tenant, as the registry has it. */
export interface TenantRecord {
  readonly name: string;
  /** The URL of its ledger, without a password. */
  readonly ledger: string;
  readonly state: TenantState;
  /** Since when it is in this state, in milliseconds since 1970. */
  readonly since: number;
  readonly limits: TenantLimits;
  /** Changes with every change of it. */
  readonly version: number;
}

/** The names of all limits. */
export const ANY_LIMITS = ["pending", "sessions", "requestsPerMinute", "bytes"] as const;

/** The kind of the items that tenants are stored as. */
export const TENANT = "registered tenant";

const STATES: ReadonlySet<JsonValue | undefined> = new Set<TenantState>([
  "creating",
  "active",
  "suspending",
  "suspended",
  "resuming",
  "erasing",
  "erased",
]);

const NAME = /^[a-z0-9](?:[a-z0-9_-]{0,61}[a-z0-9])?$/;

/** Names are parts of host names, paths and file names. */
export function flawOfTenantName(name: string): string | undefined {
  if (NAME.test(name)) return undefined;
  return "must have 1 to 63 lower-case letters, digits, - and _, and begin and end with a letter or digit";
}

export function toValue({ name: _name, version: _version, ...rest }: TenantRecord): JsonObject {
  return JSON.parse(JSON.stringify(rest)) as JsonObject;
}

/** Undefined if it is none. */
export function toTenant({ id: name, value, version }: StoredItem): TenantRecord | undefined {
  if (!isJsonObject(value)) return undefined;
  const [ledger, state, since, limits] = ["ledger", "state", "since", "limits"].map((at) =>
    member(value, at),
  );
  if (typeof ledger !== "string" || typeof since !== "number" || !STATES.has(state)) return undefined;
  return { name, ledger, state: state as TenantState, since, limits: limitsIn(limits), version };
}

function limitsIn(value: JsonValue | undefined): TenantLimits {
  const given = isJsonObject(value) ? value : {};
  const known = ANY_LIMITS.map((name) => [name, member(given, name)] as const);
  return Object.fromEntries(known.filter(([, limit]) => typeof limit === "number" && limit > 0));
}
