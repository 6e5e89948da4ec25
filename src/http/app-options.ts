import type { PrincipalInput } from "../engine/index.ts";
import type { Runner } from "../runtime/index.ts";
import type { Logger } from "./log.ts";

/** Parts of the server that can be left out. */
export type RouteGroup = "adk" | "approvals" | "audit" | "health" | "web";

/** Says who sends a request; undefined is answered 401, and so is whatever it throws. */
export type Authenticate = (
  request: Request,
) => PrincipalInput | undefined | Promise<PrincipalInput | undefined>;

export interface AppOptions {
  /** What is served, by the name that stands in addresses. All on one ledger. */
  readonly apps: { readonly [name: string]: Runner };
  /**
   * The host's own login. Whoever it names is authenticated, and has the scopes run, read and decide
   * unless it says otherwise.
   */
  readonly authenticate?: Authenticate;
  /** Where this is mounted in the host's own addresses, as in `/approvals`. */
  readonly basePath?: string;
  /** Which parts to serve; all if nothing is said. */
  readonly routes?: readonly RouteGroup[];
  /** What people's browsers call this server, for links in messages and answers. */
  readonly publicUrl?: string;
  readonly logger?: Logger;
}
