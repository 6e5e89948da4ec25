import type { Principal } from "../../../engine/index.ts";
import { isJsonObject, member } from "../../../protocol/index.ts";
import { type Scope, scopesNamedIn } from "../../scopes.ts";
import { flawOfUserId } from "../user-id.ts";

/** Which of an issuer's claims say who somebody is. */
export interface ClaimNames {
  /** `sub` is the issuer's own id; `email` counts only if the issuer says that it was verified. */
  readonly idClaim?: "sub" | "email";
  /** Where the roles are, as in `roles` or `realm_access.roles`. */
  readonly rolesClaim?: string;
}

/**
 * The person in verified claims; undefined if they are incomplete. Without any of our scopes they get the scopes
 * `unnamed`, but a program does not get `decide` from these: a default for people must not let an agent approve its own
 * calls.
 */
export function toPerson(
  claims: { readonly [name: string]: unknown },
  { idClaim = "sub", rolesClaim = "roles" }: ClaimNames,
  unnamed: readonly Scope[] = [],
): Principal | undefined {
  const id = member(claims, idClaim);
  if (typeof id !== "string" || flawOfUserId(id) !== undefined) return undefined;
  if (idClaim === "email" && member(claims, "email_verified") !== true) return undefined;
  return {
    id,
    kind: "oidc",
    roles: textsOf(claimAt(claims, rolesClaim)),
    scopes: scopesOf(claims) ?? (isProgram(claims) ? undeciding(unnamed) : unnamed),
    authenticated: true,
  };
}

/** Did a program get this token for itself? Each issuer marks this differently. */
function isProgram(claims: { readonly [name: string]: unknown }): boolean {
  const { sub, client_id: client, azp, cid, appid, gty, idtyp, oid, tid, preferred_username: name } = claims;
  const clients = [client, azp, cid, appid].filter((id) => typeof id === "string");
  return (
    gty === "client-credentials" ||
    idtyp === "app" ||
    // Entra gives a person another `sub` in each program.
    (tid !== undefined && oid === sub) ||
    clients.some((id) => id === sub || name === `service-account-${id}`)
  );
}

function undeciding(scopes: readonly Scope[]): readonly Scope[] {
  return scopes.filter((scope) => scope !== "decide");
}

// A claim's own name may contain dots, as URLs do; this takes precedence over a path.
function claimAt(claims: { readonly [name: string]: unknown }, path: string): unknown {
  if (Object.hasOwn(claims, path)) return claims[path];
  let value: unknown = claims;
  for (const name of path.split(".")) value = isJsonObject(value) ? member(value, name) : undefined;
  return value;
}

function textsOf(value: unknown): readonly string[] {
  const list: readonly unknown[] = Array.isArray(value) ? value : [value];
  return list.filter((entry) => typeof entry === "string");
}

/** Our scopes, where the issuer names any; none where it writes them in a way that we do not know. */
function scopesOf(claims: { readonly [name: string]: unknown }): readonly Scope[] | undefined {
  const lists = [member(claims, "scope"), member(claims, "scp")].map(wordsIn);
  return lists.includes(undefined) ? [] : scopesNamedIn(lists.flatMap((words) => words ?? []));
}

// A text with spaces, as the standard says; Okta writes a list.
function wordsIn(value: unknown = ""): readonly string[] | undefined {
  if (typeof value === "string") return value.split(" ");
  return Array.isArray(value) && value.every((word) => typeof word === "string") ? value : undefined;
}
