import { isJsonObject, type JsonObject, type JsonValue } from "../../protocol/index.ts";
import type { KeyValueStore } from "../ledger/index.ts";
import type { Receipt } from "./format.ts";
import { toReceipt } from "./parse-receipt.ts";

const KIND = "receipt-target";

/** How far the series of one target is. */
export interface Place {
  /** The number of the last receipt that the target has; 0 before the first. */
  readonly number: number;
  readonly signature: string;
  /** When it was made. */
  readonly at?: number;
  /** Signed, and not known to be there. It is stored before it is sent, so that after a crash the same one is sent. */
  readonly pending?: Receipt;
  /** The last attempt to send it, if that failed. */
  readonly failedAt?: number;
}

/** A place in the version in which it was read. */
export interface KnownPlace {
  readonly place: Place;
  readonly version: number;
}

export async function readPlace(items: KeyValueStore, target: string): Promise<KnownPlace> {
  const item = await items.get(KIND, target);
  return { place: toPlace(item?.value), version: item?.version ?? 0 };
}

/** Undefined: another process has changed it since. */
export async function writePlace(
  items: KeyValueStore,
  target: string,
  { place, version }: KnownPlace,
): Promise<KnownPlace | undefined> {
  const { pending, ...rest } = place;
  const value: JsonObject = { ...rest, ...(pending === undefined ? {} : { pending: { ...pending } }) };
  const isPut = await items.put({ kind: KIND, id: target, value }, version);
  return isPut ? { place, version: version + 1 } : undefined;
}

function toPlace(value: JsonValue | undefined): Place {
  if (value === undefined || !isJsonObject(value)) return { number: 0, signature: "" };
  const { number, signature, at, failedAt } = value;
  const pending = toReceipt(value["pending"]);
  return {
    number: typeof number === "number" ? number : 0,
    signature: typeof signature === "string" ? signature : "",
    ...(typeof at === "number" ? { at } : {}),
    ...(typeof failedAt === "number" ? { failedAt } : {}),
    ...(pending === undefined ? {} : { pending }),
  };
}
