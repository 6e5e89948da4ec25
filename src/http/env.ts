import type { Principal } from "../engine/index.ts";

/** What the guards have found out about a request before any route sees it. */
export interface RequestFacts {
  /** Who asks. On routes that need nobody it is the unauthenticated one. */
  readonly principal: Principal;
  /** Names this request in the log, in the answer's header and in problems. */
  readonly requestId: string;
  /** The token that a login was tried with, where the request's headers do not say it. */
  readonly triedToken?: string;
  /** Where a guard made the caller wait. */
  readonly retryAfterSeconds?: number;
}

/** What the server knows of a request that the request itself does not say. */
export interface RequestBindings {
  /** Where the client is; behind proxies only if the server trusts them to say. */
  readonly remoteAddress?: string;
  /** It passes a body on as it is. Hosts that compress by themselves drop `content-encoding`, so nothing may come with it. */
  readonly takesEncoded?: boolean;
}

/** Hono's type of the context that our routes get. */
export interface HttpEnv {
  readonly Bindings: RequestBindings;
  readonly Variables: RequestFacts;
}
