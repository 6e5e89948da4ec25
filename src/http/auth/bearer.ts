import type { Principal } from "../../engine/index.ts";

/** Somebody who proved who they are. */
export interface Known {
  readonly principal: Principal;
  /** The id of the API token that proved it: a login made with it ends with it. */
  readonly token?: string;
  /** When the credential expires. Default: as long as a login. */
  readonly until?: number;
}

/** Returns the owner of a credential; undefined if it is of another kind, or no longer valid. */
export type BearerReader = (credential: string) => Promise<Known | undefined>;

/** The token in `Authorization: Bearer …`; undefined if there is none. */
export function bearerOf(request: Request): string | undefined {
  const [, credential] = /^Bearer +([\w.~+/=-]+) *$/i.exec(request.headers.get("authorization") ?? "") ?? [];
  return credential;
}
