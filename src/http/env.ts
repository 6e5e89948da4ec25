import type { Principal } from "../engine/index.ts";

/** What the guards have found out about a request before any route sees it. */
export interface RequestFacts {
  /** The caller. On routes without a login it is the unauthenticated principal. */
  readonly principal: Principal;
  /** Names this request in the log, in the answer's header and in problems. */
  readonly requestId: string;
  /** The token of a login attempt, if it is not in the request's headers. */
  readonly triedToken?: string;
  /** Set if a guard made the caller wait. */
  readonly retryAfterSeconds?: number;
}

/** What the server knows about a request besides the request itself. */
export interface RequestBindings {
  /** The client's address; behind proxies only if the server trusts them. */
  readonly remoteAddress?: string;
  /** Passes a body on unchanged. Hosts that compress drop `content-encoding`, so it must not be set. */
  readonly takesEncoded?: boolean;
  /**
   * Takes one of the requests that all callers together may send, in the kind that this request is of; returns the
   * milliseconds until there is one, or 0. Whoever has not logged in takes none from those who have, nor from the entries of
   * channels.
   */
  readonly takeShared?: (sender: "known" | "channel" | "stranger") => number;
  /** Calls back when the answer was sent, or its client is gone. */
  readonly whenSent?: (then: () => void) => unknown;
}

/** Hono's type of the context that our routes get. */
export interface HttpEnv {
  readonly Bindings: RequestBindings;
  readonly Variables: RequestFacts;
}
