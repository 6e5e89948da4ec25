import {
  type DocumentQuery,
  type SessionDocument,
  type SessionName,
  TransientMap,
} from "../../engine/index.ts";
import type { Cold, ColdRow } from "./cold.ts";
import { compareText } from "./compare-text.ts";
import { Hot } from "./hot.ts";

/** A session's document with its version. */
export interface Kept {
  readonly key: string;
  readonly version: number;
  readonly document: SessionDocument;
}

const DOCUMENT = "select key, version, body from documents";
const BY_KEY = `${DOCUMENT} where key = ?`;
const BY_NAME = `${DOCUMENT} where app = ? and user = ? and id = ?`;
const OF_USER = `${DOCUMENT} where app = ? and user = ? and id > ? and deleted = 0 order by id limit ?`;
const OF_APP = `${DOCUMENT} where app = ? and (user, id) > (?, ?) and deleted = 0 order by user, id limit ?`;
const ALL = `${DOCUMENT} where key > ? order by key limit ?`;
const HAS_KEY = "select 1 from documents where key = ?";
const PUT =
  "insert into documents (key, app, user, id, version, updated_at, deleted, body) values (?, ?, ?, ?, ?, ?, ?, ?)";
const DROP = "delete from documents where key = ?";

/** About what a row of a document takes. */
const ROW_WEIGHT = 800;

/** Documents, each in one of the two tiers. */
export class Documents {
  readonly #cold: Cold;
  readonly #hot: Hot<string, Kept>;
  /** Keys of those that are hot. */
  readonly #names = new TransientMap<string, string>();
  /** The name that was last looked for and not found: who looks for a session often goes on to create it. */
  #missing: string | undefined;
  #someAreCold = false;

  constructor(cold: Cold, most: number) {
    this.#cold = cold;
    this.#hot = new Hot(most, weightOf);
  }

  byKey(key: string): Kept | undefined {
    return this.#hot.get(key) ?? (this.#someAreCold ? toKept(this.#cold.get(BY_KEY, key)) : undefined);
  }

  /** Other names for an erased session, in the same version. */
  rename(kept: Kept): void {
    const before = this.byKey(kept.key);
    if (before !== undefined) this.#names.delete(textOf(before.document.head));
    if (this.#someAreCold) this.#cold.run(DROP, kept.key);
    this.#names.set(textOf(kept.document.head), kept.key);
    this.#missing = undefined;
    this.#hot.set(kept.key, kept);
  }

  byName(name: SessionName): Kept | undefined {
    const text = textOf(name);
    const key = this.#names.get(text);
    if (key !== undefined) return this.#hot.get(key);
    const { app, user, id } = name;
    const kept = this.#someAreCold ? toKept(this.#cold.get(BY_NAME, app, user, id)) : undefined;
    if (kept === undefined) this.#missing = text;
    return kept;
  }

  /** Is there no session of this key, and none of this name? */
  isFree(key: string, name: SessionName): boolean {
    const text = textOf(name);
    if (this.#hot.get(key) !== undefined || this.#names.has(text)) return false;
    if (!this.#someAreCold) return true;
    if (this.#cold.get(HAS_KEY, key) !== undefined) return false;
    return text === this.#missing || this.byName(name) === undefined;
  }

  set(kept: Kept): void {
    const { key, document } = kept;
    if (this.#someAreCold && kept.version > 1 && this.#hot.get(key) === undefined) this.#cold.run(DROP, key);
    if (this.#hot.get(key) === undefined) {
      this.#names.set(textOf(document.head), key);
      this.#missing = undefined;
    }
    this.#hot.set(key, kept);
  }

  page(query: DocumentQuery): readonly Kept[] {
    const hot = [...this.#hot.values()].filter((kept) => isAsked(query, kept));
    const cold = this.#someAreCold ? this.#coldPage(query) : [];
    const all = [...hot, ...cold].sort((a, b) => comparePlaces(placeOf(query, a), placeOf(query, b)));
    return all.slice(0, query.limit);
  }

  spill(): void {
    this.#hot.spill((oldest) => {
      this.#cold.together(() => {
        for (const { key, version, document } of oldest) {
          const { app, user, id, updatedAt, deletedAt } = document.head;
          const deleted = Number(deletedAt !== undefined);
          this.#cold.run(PUT, key, app, user, id, version, updatedAt, deleted, JSON.stringify(document));
        }
      });
      this.#someAreCold = true;
      for (const { document } of oldest) this.#names.delete(textOf(document.head));
    });
  }

  #coldPage(query: DocumentQuery): readonly Kept[] {
    const { limit } = query;
    const read = (sql: string, ...values: readonly (string | number)[]): readonly Kept[] =>
      this.#cold.all(sql, ...values, limit).flatMap((row) => toKept(row) ?? []);
    if ("afterKey" in query) return read(ALL, query.afterKey);
    const { app, user, after = [] } = query;
    const [first = "", second = ""] = after;
    return user === undefined ? read(OF_APP, app, first, second) : read(OF_USER, app, user, first);
  }
}

function weightOf({ document: { frames, calls, confirmations, steps } }: Kept): number {
  return ROW_WEIGHT * (1 + frames.length + calls.length + confirmations.length + steps.length);
}

function toKept(row: ColdRow | undefined): Kept | undefined {
  if (row === undefined) return undefined;
  const [key, version, body] = row as readonly [string, number, string];
  return { key, version, document: JSON.parse(body) as SessionDocument };
}

function textOf({ app, user, id }: SessionName): string {
  return JSON.stringify([app, user, id]);
}

function isAsked(query: DocumentQuery, kept: Kept): boolean {
  const { head } = kept.document;
  const isBehind = comparePlaces(placeOf(query, kept), startOf(query)) > 0;
  if ("afterKey" in query) return isBehind;
  const { app, user } = query;
  return isBehind && head.app === app && (user === undefined || head.user === user) && isAlive(kept);
}

function isAlive({ document }: Kept): boolean {
  return document.head.deletedAt === undefined;
}

function startOf(query: DocumentQuery): readonly string[] {
  return "afterKey" in query ? [query.afterKey] : (query.after ?? []);
}

function placeOf(query: DocumentQuery, { key, document: { head } }: Kept): readonly string[] {
  if ("afterKey" in query) return [key];
  return query.user === undefined ? [head.user, head.id] : [head.id];
}

function comparePlaces(a: readonly string[], b: readonly string[]): number {
  for (const [at, left] of a.entries()) {
    const order = compareText(left, b[at] ?? "");
    if (order !== 0) return order;
  }
  return 0;
}
