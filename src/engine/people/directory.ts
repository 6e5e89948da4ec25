import type { Approvers } from "./principal.ts";

/** What the policy knows about people, asked again whenever votes are counted. */
export interface Directory {
  /** Members of a group now; undefined if there is no such group (any more): nobody counts then. */
  group(name: string): Approvers | undefined;
  /** The person behind a login: several ids may be one person. */
  person(id: string): string;
  /** All logins of the person behind a login, this one among them. Default: only this one. */
  logins?(id: string): readonly string[];
  /** Roles from claims lapse as votes after this long. */
  readonly voteMaxAgeMs?: number;
}

/** All logins of the person behind this one. */
export function loginsOf(id: string, directory: Pick<Directory, "logins"> | undefined): readonly string[] {
  return directory?.logins?.(id) ?? [id];
}

/** No groups, and every login is a person. */
export const NO_DIRECTORY: Directory = { group: () => undefined, person: (id) => id };
