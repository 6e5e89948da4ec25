import { globOf } from "../../protocol/index.ts";
import type { Directory } from "./directory.ts";
import type { Principal } from "./principal.ts";

/** One person lets another one vote for them, until a time by the ledger's clock. */
export interface VoteDelegation {
  readonly id: string;
  /** Who is away: the id of their login, as rules name it. */
  readonly from: string;
  /** Who votes for them. */
  readonly to: string;
  readonly since: number;
  readonly until: number;
  /** For these questions only; without it, for all. */
  readonly scope?: DelegationScope;
  /** The version of the stored delegation: a commit that relies on it names it. */
  readonly version: number;
  /** Over all of the above but the version, when the engine has a secret. */
  readonly mac?: string;
}

/** Patterns of names; `*` and `?` are wildcards. A question is within if one of each list fits. */
export interface DelegationScope {
  readonly app?: readonly string[];
  readonly tool?: readonly string[];
}

/** What a scope is about. */
export interface Scoped {
  readonly app?: string;
  readonly tool?: string;
}

/** Is the question within the scope? */
export function isWithinScope(scope: DelegationScope = {}, { app = "", tool = "" }: Scoped): boolean {
  return fits(scope.app, app) && fits(scope.tool, tool);
}

function fits(patterns: readonly string[] | undefined, name: string): boolean {
  return patterns === undefined || patterns.some((pattern) => globOf(pattern)(name));
}

/** Who delegates to whom, and who is behind which login. */
interface Known {
  readonly directory?: Pick<Directory, "person">;
  readonly delegations?: readonly VoteDelegation[];
}

/**
 * For whom this principal may vote. A service that acts for somebody votes for nobody else. What was delegated to a
 * delegator is not passed on: there are no chains.
 */
export function delegatedTo(
  { id, onBehalfOf }: Pick<Principal, "id" | "onBehalfOf">,
  about: Scoped,
  known: Known,
): readonly VoteDelegation[] {
  const { delegations = [] } = known;
  if (onBehalfOf !== undefined || delegations.length === 0) return [];
  return delegations.filter(
    ({ to, scope }) => behind(to, known) === behind(id, known) && isWithinScope(scope, about),
  );
}

/** Does one of the persons behind these two logins vote for the other? Then both are one person. */
export function areOne(one: string, other: string, about: Scoped, known: Known): boolean {
  const { delegations = [] } = known;
  if (delegations.length === 0) return false;
  const [first, second] = [behind(one, known), behind(other, known)];
  return delegations.some(({ from, to, scope }) => {
    const [delegator, delegate] = [behind(from, known), behind(to, known)];
    const isPair =
      (delegator === first && delegate === second) || (delegator === second && delegate === first);
    return isPair && isWithinScope(scope, about);
  });
}

function behind(login: string, { directory }: Known): string {
  return directory?.person(login) ?? login;
}
