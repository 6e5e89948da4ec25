import { isJsonArray, isJsonObject, type JsonObject } from "../../protocol/index.ts";
import type { StoredItem } from "../ledger/index.ts";
import { type Directory, loginsOf } from "../people/index.ts";

/** The kind of the items that holds are stored as. */
export const HOLD = "hold";

/** What a hold keeps: one session (by its key), all that one person took part in, or all of an app. */
export interface HoldTarget {
  readonly on: "session" | "user" | "app";
  readonly name: string;
}

/** Content that must not be erased until somebody releases it. */
export interface Hold extends HoldTarget {
  readonly id: string;
  readonly reason: string;
  /** Who placed it. */
  readonly by: string;
  readonly since: number;
  /** The ids of the person, as the policy had them when it was placed; left out if there is one only. */
  readonly logins?: readonly string[];
}

/**
 * All ids that a hold on a person covers: those that were known when it was placed, and those that the policy adds to any of
 * them now.
 */
export function heldLogins(
  { name, logins = [] }: Pick<Hold, "name" | "logins">,
  directory: Pick<Directory, "logins">,
): ReadonlySet<string> {
  return new Set([name, ...logins].flatMap((login) => [login, ...loginsOf(login, directory)]));
}

export function toItem(hold: Hold): Omit<StoredItem, "version"> {
  const { logins, ...rest } = hold;
  const known = logins === undefined ? {} : { logins: [...logins] };
  return { kind: HOLD, id: hold.id, value: { ...rest, ...known } satisfies JsonObject };
}

/** Reads a stored hold. One that cannot be read keeps everything: nobody knows what it was about. */
export function fromItem({ id, value }: StoredItem): Hold | "unreadable" {
  if (!isJsonObject(value)) return "unreadable";
  const { on, name, reason, by, since, logins } = value;
  if (on !== "session" && on !== "user" && on !== "app") return "unreadable";
  if (typeof name !== "string" || typeof reason !== "string" || typeof by !== "string") return "unreadable";
  if (typeof since !== "number") return "unreadable";
  const hold: Hold = { id, on, name, reason, by, since };
  if (logins === undefined) return hold;
  if (!isJsonArray(logins) || !logins.every((login) => typeof login === "string")) return "unreadable";
  return { ...hold, logins };
}
