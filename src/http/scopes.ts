import type { Context } from "hono";
import type { Principal } from "../engine/index.ts";
import { CountersignError } from "../protocol/index.ts";
import type { HttpEnv } from "./env.ts";

/** What a principal may use the API for. What it may decide also depends on the confirmation's rule. */
export const SCOPES = ["run", "read", "decide", "propose", "act-as", "metrics", "admin"] as const;

/** One of {@link SCOPES}. */
export type Scope = (typeof SCOPES)[number];

/** The default scopes of an authenticated principal. */
export const USUAL_SCOPES: readonly Scope[] = ["run", "read", "decide"];

/** The prefix of our scopes in an issuer's tokens. */
const NAMESPACE = "countersign:";

/** Our scopes among an issuer's; undefined if there are none. */
export function scopesNamedIn(words: readonly string[]): readonly Scope[] | undefined {
  const named = words.filter((word) => word.startsWith(NAMESPACE));
  if (named.length === 0) return undefined;
  return named.map((word) => word.slice(NAMESPACE.length)).filter(isScope);
}

/** Is this text the name of a scope? */
export function isScope(text: string): text is Scope {
  return SCOPES.some((scope) => scope === text);
}

/** Has the principal one of these scopes? */
export function hasScope({ scopes }: Pick<Principal, "scopes">, ...anyOf: readonly Scope[]): boolean {
  return anyOf.some((scope) => scopes.includes(scope));
}

/** Requires one of these scopes; otherwise throws `forbidden` with their names. */
export function requireScope(context: Context<HttpEnv>, ...anyOf: readonly Scope[]): void {
  checkScope(context.get("principal"), ...anyOf);
}

/** Like {@link requireScope}, for a given principal. */
export function checkScope(principal: Principal, ...anyOf: readonly Scope[]): void {
  if (hasScope(principal, ...anyOf)) return;
  const names = anyOf.join('" or "');
  throw new CountersignError("forbidden", `${principal.id} does not have the scope "${names}".`, {
    details: { hint: "Use a token with this scope, or ask an administrator for one." },
  });
}
