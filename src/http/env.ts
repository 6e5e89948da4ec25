import type { Principal } from "../engine/index.ts";

/** What the guards have found out about a request before any route sees it. */
export interface RequestFacts {
  /** Who asks. On routes that need nobody it is the unauthenticated one. */
  readonly principal: Principal;
  /** Names this request in the log, in the answer's header and in problems. */
  readonly requestId: string;
}

/** Hono's type of the context that our routes get. */
export interface HttpEnv {
  readonly Variables: RequestFacts;
}
