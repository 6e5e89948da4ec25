import type { Principal } from "../engine/index.ts";
import { CountersignError } from "../protocol/index.ts";
import { isReservedUserId } from "./auth/user-id.ts";
import { hasScope } from "./scopes.ts";

/**
 * Who acts when an address or a body names a user. That name is a label, not an identity: it must be the
 * caller's own, or the caller must have the scope `act-as` and then acts on that user's behalf. Nobody acts for what is
 * not a person. Throws `forbidden`.
 */
export function actingFor(principal: Principal, user: string): Principal {
  if (principal.id === user) return principal;
  if (isReservedUserId(user))
    throw new CountersignError("forbidden", `"${user}" is reserved. Nobody can act for it.`, {
      details: { field: "userId" },
    });
  if (hasScope(principal, "act-as")) return { ...principal, onBehalfOf: user };
  throw new CountersignError("forbidden", `${principal.id} may not act as "${user}".`, {
    details: { field: "userId", hint: `Use ${principal.id}, or a token with the scope act-as.` },
  });
}
