import type { JsonValue } from "../../protocol/index.ts";
import type { Page, PageRequest } from "./lists.ts";

/** A small thing that belongs to no session: an API token, a login, a one-time link. */
export interface StoredItem {
  readonly kind: string;
  readonly id: string;
  readonly value: JsonValue;
  /** Counts from 1; every change names the one it read. */
  readonly version: number;
  /** From this time on, by the ledger's clock, nobody can read it. */
  readonly expiresAt?: number;
}

/** An item in one of its versions. */
export type ItemVersion = Pick<StoredItem, "kind" | "id" | "version">;

/** Where a ledger keeps what belongs to no session. Every change is compare-and-set on the item's version. */
export interface KeyValueStore {
  /** What is kept under this id and has not expired. */
  get(kind: string, id: string): Promise<StoredItem | undefined>;
  /** All of one kind that have not expired, by id; with `after`, those behind this id. */
  list(kind: string, page?: PageRequest & { readonly after?: string }): Promise<Page<StoredItem>>;
  /**
   * Keeps an item in place of the version that was read; 0 means that there was none. On disk when the promise
   * resolves. False: somebody else changed it since, and nothing was written.
   */
  put(item: Omit<StoredItem, "version">, read: number): Promise<boolean>;
  /** Takes an item away, once: of any number that try with the same version, one is told true. */
  remove(item: Pick<StoredItem, "kind" | "id" | "version">): Promise<boolean>;
  /** Remembers a value for ever under a name, if it has none yet; resolves to the value that it has. */
  pin(name: string, value: string): Promise<string>;
}
