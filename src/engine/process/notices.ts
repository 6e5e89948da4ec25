import { createHash } from "node:crypto";
import { CountersignError, isJsonObject, type JsonObject, type JsonValue } from "../../protocol/index.ts";
import { bytesOf } from "../common/index.ts";
import { cutValue, eachOf, type KeyValueStore, type StoredItem } from "../ledger/index.ts";
import type { LedgerNotice } from "./notice.ts";

/** A notice as it is stored in the ledger. */
export interface StoredNotice {
  readonly id: string;
  readonly kind: LedgerNotice["kind"];
  /** ISO 8601. */
  readonly at: string;
  /** The process that detected it. */
  readonly host: string;
  readonly pid: number;
  readonly message: string;
  /** How many losses of this kind it detected together. */
  readonly count: number;
  /** Details of each, as many as fit. */
  readonly details: readonly JsonObject[];
  readonly acknowledged?: { readonly by: string; readonly at: string };
}

const KIND = "ledger-notice";
const MOST_KEPT = 50;
const KEPT_MS = 30 * 24 * 60 * 60_000;
const MOST_DETAIL_BYTES = 8_192;
const ID_LETTERS = 16;

type Place = Pick<KeyValueStore, "get" | "list" | "put" | "remove">;

export interface NoticeWriterOptions {
  readonly store: Place;
  readonly now: () => number;
  readonly newId: () => string;
  readonly host: string;
  readonly pid: number;
}

/** Stores in the ledger what this process has detected. Similar losses that come together are one notice. */
export class NoticeWriter {
  readonly #options: NoticeWriterOptions;
  readonly #open = new Map<string, StoredNotice>();
  #unstored: StoredNotice[] = [];
  #storing: Promise<void> | undefined;

  constructor(options: NoticeWriterOptions) {
    this.#options = options;
  }

  /** Keeps a notice in memory until it is stored. */
  add(notice: LedgerNotice): void {
    const { now, host, pid } = this.#options;
    const { kind, message } = notice;
    const key = JSON.stringify([kind, message, kind === "new-history" ? notice.details : {}]);
    const known = this.#open.get(key);
    const details = cutValue(notice.details) ?? notice.details;
    if (known === undefined) {
      const [id, at] = [this.#idOf(notice), new Date(now()).toISOString()];
      this.#open.set(key, { id, kind, at, host, pid, message, count: 1, details: [details] });
      return;
    }
    const all = [...known.details, details];
    const fits = bytesOf(all) <= MOST_DETAIL_BYTES;
    this.#open.set(key, { ...known, count: known.count + 1, details: fits ? all : known.details });
  }

  /** Stores what was added. Rejects if the ledger is unreachable; the rest is stored the next time. */
  store(): Promise<void> {
    this.#storing ??= this.#storeAll().finally(() => {
      this.#storing = undefined;
    });
    return this.#storing;
  }

  async #storeAll(): Promise<void> {
    this.#unstored = [...this.#unstored, ...this.#open.values()].slice(-MOST_KEPT);
    this.#open.clear();
    if (this.#unstored.length === 0) return;
    const { store, now } = this.#options;
    for (const notice of this.#unstored) {
      const value = notice as unknown as JsonObject;
      // If it is already there, an earlier try whose answer was lost, or another process, stored it.
      await store.put({ kind: KIND, id: notice.id, value, expiresAt: now() + KEPT_MS }, 0);
      this.#unstored = this.#unstored.filter((other) => other !== notice);
    }
    await dropOldest(store);
  }

  // Every process of a ledger detects the same new server, but people should be told once.
  #idOf({ kind, details }: LedgerNotice): string {
    if (kind !== "new-history") return this.#options.newId();
    const hash = createHash("sha256").update(JSON.stringify(details)).digest("hex");
    return `new-history-${hash.slice(0, ID_LETTERS)}`;
  }
}

/** All stored notices, newest first. */
export async function listNotices(store: Pick<KeyValueStore, "list">): Promise<readonly StoredNotice[]> {
  return newestFirst(await allOf(store)).map(({ notice }) => notice);
}

/** The notices that nobody has acknowledged, newest first. */
export async function openNotices(store: Pick<KeyValueStore, "list">): Promise<readonly StoredNotice[]> {
  return (await listNotices(store)).filter(({ acknowledged }) => acknowledged === undefined);
}

/**
 * Hides a notice from everybody and records who did it. The first acknowledgement is final. Throws `unknown-notice`.
 */
export async function acknowledgeNotice(
  store: Pick<KeyValueStore, "get" | "put">,
  id: string,
  { by, at }: { readonly by: string; readonly at: number },
): Promise<StoredNotice> {
  for (;;) {
    const item = await store.get(KIND, id);
    const notice = item && readNotice(item.value);
    if (item === undefined || notice === undefined) {
      throw new CountersignError(
        "unknown-notice",
        `There is no notice "${id}". Only the newest ${MOST_KEPT} notices are kept, for 30 days.`,
      );
    }
    if (notice.acknowledged !== undefined) return notice;
    const done = { ...notice, acknowledged: { by, at: new Date(at).toISOString() } };
    if (await store.put({ ...item, value: done }, item.version)) return done;
  }
}

interface Stored {
  readonly item: StoredItem;
  readonly notice: StoredNotice;
}

async function allOf(store: Pick<KeyValueStore, "list">): Promise<readonly Stored[]> {
  const found: Stored[] = [];
  for await (const item of eachOf((page) => store.list(KIND, page))) {
    const notice = readNotice(item.value);
    if (notice !== undefined) found.push({ item, notice });
  }
  return found;
}

/** Acknowledged notices are removed first. */
async function dropOldest(store: Place): Promise<void> {
  const all = newestFirst(await allOf(store));
  const ranked = [...all.filter(isOpen), ...all.filter((stored) => !isOpen(stored))];
  for (const { item } of ranked.slice(MOST_KEPT)) await store.remove(item);
}

function isOpen({ notice }: Stored): boolean {
  return notice.acknowledged === undefined;
}

function newestFirst(all: readonly Stored[]): readonly Stored[] {
  return all.toSorted((a, b) => Date.parse(b.notice.at) - Date.parse(a.notice.at));
}

function readNotice(value: JsonValue): StoredNotice | undefined {
  return isJsonObject(value) && typeof value["message"] === "string"
    ? (value as unknown as StoredNotice)
    : undefined;
}
