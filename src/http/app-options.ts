import type { Engine, Ledger, Principal, PrincipalInput } from "../engine/index.ts";
import type { Runner } from "../runtime/index.ts";
import type { Auth } from "./auth/auth.ts";
import type { FeedSettings } from "./feed/settings.ts";
import type { RequestLimits } from "./guards/limits.ts";
import type { Logger } from "./log.ts";
import type { Metrics } from "./telemetry/metrics.ts";

/** Parts of the server that can be left out. */
export type RouteGroup = "adk" | "agui" | "approvals" | "audit" | "health" | "web";

/** Returns who sends a request. Undefined or a throw gets 401. */
export type Authenticate = (
  request: Request,
) => PrincipalInput | undefined | Promise<PrincipalInput | undefined>;

/** Another protocol's server, behind this one's guards: the caller is known before it is reached. */
export interface Mount {
  /** A path such as `/a2a`: it gets all requests below it. */
  readonly path: string;
  fetch(
    request: Request,
    facts: {
      readonly principal: Principal;
      readonly closing: AbortSignal;
      /** For a large read: resolves when it is the caller's turn, to what ends it. Reads by GET have taken theirs. */
      readonly takeTurn: () => Promise<() => void>;
    },
  ): Promise<Response>;
  /** Channels whose routes people use themselves, as `push`; the inbox offers them. */
  readonly channels?: readonly string[];
  /** Is a path (without the base path) open without a login? Default: no path is. */
  isOpen?(path: string): boolean;
  /**
   * Does a path (without the base path) take any content type, as exact bytes? Its requests must prove themselves, by a
   * signature for example: a page of another site can send such a body too. Default: every body is JSON.
   */
  takesRaw?(path: string): boolean;
}

/** A policy that is to be compared with past decisions. */
export interface ReplayRequest {
  /** The text of a policy file. */
  readonly policy: string;
  readonly days: number;
  /** Nobody waits for the answer any more. */
  readonly signal: AbortSignal;
}

/** Options of {@link createApp}. */
export interface AppOptions {
  /** The apps to serve, by their name in URLs. All on one ledger. */
  readonly apps: { readonly [name: string]: Runner };
  /**
   * An engine on the same ledger; needed only if `apps` is empty. Approved calls then run where their app is hosted: in
   * a gateway's process, or in another server.
   */
  readonly engine?: Engine;
  /**
   * The host's own login. The person that it returns is authenticated, and has the scopes run, read and decide by
   * default.
   */
  readonly authenticate?: Authenticate;
  /**
   * A login of this server's own, from `createAuth`; cannot be combined with `authenticate`. Without either there is no
   * login, and only requests to this machine's loopback names are answered.
   */
  readonly auth?: Auth;
  /** Host names of this server besides that of `publicUrl`. */
  readonly allowedHosts?: readonly string[];
  /** Pages of other origins that may call this, as in `https://ui.example`. `*`: any page that somebody opens. */
  readonly allowOrigins?: readonly string[];
  readonly limits?: Partial<RequestLimits>;
  /** Where this is mounted in the host's own addresses, as in `/approvals`. */
  readonly basePath?: string;
  /** Which parts to serve. Default: all. */
  readonly routes?: readonly RouteGroup[];
  /** Servers of other protocols to mount. */
  readonly mounts?: readonly Mount[];
  /** Judges past calls by another policy, for administrators; `serve` has it. Without it there is no such page. */
  readonly replay?: (ledger: Ledger, request: ReplayRequest) => Promise<object>;
  /** The public URL of this server, for links in messages and answers. */
  readonly publicUrl?: string;
  readonly logger?: Logger;
  /** Where requests are counted, for a host that has metrics of its own. */
  readonly metrics?: Metrics;
  /** Settings of the live feed. */
  readonly feed?: Partial<FeedSettings>;
}
