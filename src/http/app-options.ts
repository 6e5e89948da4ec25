import type { Engine, Principal, PrincipalInput } from "../engine/index.ts";
import type { Runner } from "../runtime/index.ts";
import type { Auth } from "./auth/auth.ts";
import type { FeedSettings } from "./feed/settings.ts";
import type { RequestLimits } from "./guards/limits.ts";
import type { Logger } from "./log.ts";
import type { Metrics } from "./telemetry/metrics.ts";

/** Parts of the server that can be left out. */
export type RouteGroup = "adk" | "approvals" | "audit" | "health" | "web";

/** Says who sends a request; undefined is answered 401, and so is whatever it throws. */
export type Authenticate = (
  request: Request,
) => PrincipalInput | undefined | Promise<PrincipalInput | undefined>;

/** Another protocol's server, answered under this one's guards: who asks is known before it is reached. */
export interface Mount {
  /** As in `/a2a`: it gets everything below. */
  readonly path: string;
  fetch(
    request: Request,
    facts: { readonly principal: Principal; readonly closing: AbortSignal },
  ): Promise<Response>;
  /** Does a path, without the base path, need nobody to be logged in? None does if nothing is said. */
  isOpen?(path: string): boolean;
}

export interface AppOptions {
  /** What is served, by the name that stands in addresses. All on one ledger. */
  readonly apps: { readonly [name: string]: Runner };
  /**
   * Of the same ledger; needed only where `apps` is empty. What is decided then runs where its app is hosted: in a
   * gateway's process, or in another server's.
   */
  readonly engine?: Engine;
  /**
   * The host's own login. Whoever it names is authenticated, and has the scopes run, read and decide
   * unless it says otherwise.
   */
  readonly authenticate?: Authenticate;
  /**
   * A login of this server's own, from `createAuth`; not beside `authenticate`. Without either there is no login, and
   * only requests to this machine's loopback names are answered.
   */
  readonly auth?: Auth;
  /** Names beside that of `publicUrl` under which this is reached. */
  readonly allowedHosts?: readonly string[];
  /** Pages of other origins that may call this, as in `https://ui.example`. `*`: any page that somebody opens. */
  readonly allowOrigins?: readonly string[];
  readonly limits?: Partial<RequestLimits>;
  /** Where this is mounted in the host's own addresses, as in `/approvals`. */
  readonly basePath?: string;
  /** Which parts to serve; all if nothing is said. */
  readonly routes?: readonly RouteGroup[];
  /** What else is served here, of other protocols. */
  readonly mounts?: readonly Mount[];
  /** What people's browsers call this server, for links in messages and answers. */
  readonly publicUrl?: string;
  readonly logger?: Logger;
  /** Where requests are counted, for a host that has something to count beside them. */
  readonly metrics?: Metrics;
  /** How the live feed behaves, where the usual will not do. */
  readonly feed?: Partial<FeedSettings>;
}
