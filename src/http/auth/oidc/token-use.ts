/** What a signed token is used for: as a bearer token with each request, or as the result of a login. */
export type TokenUse = "access" | "identity";

const JWT = /^(?:application\/)?jwt$/i;
const ACCESS_TOKEN = /^(?:application\/)?at\+jwt$/i;
/** Claims that only tokens of another use carry, where the type does not tell them apart. */
const OF_AN_ID_TOKEN = ["nonce", "at_hash", "c_hash", "s_hash"] as const;

/**
 * Was a token made for this use? An issuer signs many kinds with one key, for one audience: to log out with, to refresh
 * with, to say who somebody is. An access token has the type `at+jwt`, or `JWT` and nothing of an ID token in it.
 */
export function isMadeFor(
  use: TokenUse,
  type: string | undefined,
  claims: { readonly [name: string]: unknown },
): boolean {
  // A logout token or another event; and a token that needs a proof of possession, which we do not check.
  if (claims["events"] !== undefined || claims["cnf"] !== undefined) return false;
  if (use === "identity") return type === undefined || JWT.test(type);
  if (type === undefined) return false;
  return ACCESS_TOKEN.test(type) || (JWT.test(type) && saysAccess(claims));
}

// Two issuers name the use in a claim: Keycloak in `typ`, Cognito in `token_use`.
function saysAccess(claims: { readonly [name: string]: unknown }): boolean {
  const { typ = "Bearer", token_use: use = "access" } = claims;
  return typ === "Bearer" && use === "access" && OF_AN_ID_TOKEN.every((name) => claims[name] === undefined);
}
