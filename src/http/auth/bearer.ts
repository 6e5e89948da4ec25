import type { Principal } from "../../engine/index.ts";

/** Somebody who proved who they are. */
export interface Known {
  readonly principal: Principal;
  /** The id of the API token that proved it: a login made with it ends with it. */
  readonly token?: string;
  /** Nothing that is known by this counts longer; as long as a login does, if nothing is said. */
  readonly until?: number;
}

/** Tells whose a credential is; undefined where it is none of its kind, or does not count any more. */
export type BearerReader = (credential: string) => Promise<Known | undefined>;

/** What a request carries as `Authorization: Bearer …`; undefined where there is nothing of the kind. */
export function bearerOf(request: Request): string | undefined {
  const [, credential] = /^Bearer +([\w.~+/=-]+) *$/i.exec(request.headers.get("authorization") ?? "") ?? [];
  return credential;
}
