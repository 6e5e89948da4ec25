import { isJsonObject, type JsonObject } from "../../protocol/index.ts";
import type { StoredItem } from "../ledger/index.ts";

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
}

export function toItem(hold: Hold): Omit<StoredItem, "version"> {
  return { kind: HOLD, id: hold.id, value: { ...hold } satisfies JsonObject };
}

/** Reads a stored hold. One that cannot be read keeps everything: nobody knows what it was about. */
export function fromItem({ id, value }: StoredItem): Hold | "unreadable" {
  if (!isJsonObject(value)) return "unreadable";
  const { on, name, reason, by, since } = value;
  if (on !== "session" && on !== "user" && on !== "app") return "unreadable";
  if (typeof name !== "string" || typeof reason !== "string" || typeof by !== "string") return "unreadable";
  return typeof since === "number" ? { id, on, name, reason, by, since } : "unreadable";
}
