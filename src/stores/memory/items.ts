import type { StoreChange, StoredItem } from "../../engine/index.ts";
import type { JsonObject, JsonValue } from "../../protocol/index.ts";
import type { Cold, ColdRow } from "./cold.ts";
import { compareText } from "./compare-text.ts";
import { Hot } from "./hot.ts";

/** An item with its value as text: nobody else's to change. */
interface Kept extends Omit<StoredItem, "value"> {
  readonly text: string;
}

const ITEM = "select kind, id, version, expires_at, value from items where kind = ?";
const ALIVE = "and (expires_at is null or expires_at > ?)";
const ONE = `${ITEM} and id = ? ${ALIVE}`;
const PAGE = `${ITEM} and id > ? ${ALIVE} order by id limit ?`;
const PUT = "insert into items (kind, id, version, expires_at, value) values (?, ?, ?, ?, ?)";
const DROP = "delete from items where kind = ? and id = ?";
const TIDY = "delete from items where expires_at <= ?";

const WEIGHT = 300;

/** The items of one kind: those that are hot, by id, and whether any are cold. */
interface OfKind {
  readonly hot: Hot<string, Kept>;
  someAreCold: boolean;
}

/** Small things outside of sessions, each in one of the two tiers. There are few kinds, so each has a heap of its own. */
export class Items {
  readonly #cold: Cold;
  readonly #most: number;
  readonly #kinds = new Map<string, OfKind>();

  constructor(cold: Cold, most: number) {
    this.#cold = cold;
    this.#most = most;
  }

  get(kind: string, id: string, now: number): StoredItem | undefined {
    const kept = this.#get(kind, id, now);
    return kept && toItem(kept);
  }

  /** 0 where there is none. */
  versionOf(kind: string, id: string, now: number): number {
    return this.#get(kind, id, now)?.version ?? 0;
  }

  set({ kind, id, value, expiresAt, read }: StoreChange["items"][number], now: number): void {
    const known = this.#get(kind, id, now);
    const text = value === undefined ? undefined : textOf(value, read === undefined ? known : undefined);
    const { hot, someAreCold } = this.#of(kind);
    if (!hot.delete(id) && someAreCold) this.#cold.run(DROP, kind, id);
    if (text === undefined) return;
    const expiry = expiresAt === undefined ? {} : { expiresAt };
    hot.set(id, { kind, id, version: (known?.version ?? 0) + 1, ...expiry, text });
  }

  page(
    kind: string,
    { after, limit, now }: { readonly after: string; readonly limit: number; readonly now: number },
  ): readonly StoredItem[] {
    const { hot, someAreCold } = this.#of(kind);
    const isAsked = (kept: Kept): boolean => compareText(kept.id, after) > 0 && isAlive(kept, now);
    const cold = someAreCold ? this.#cold.all(PAGE, kind, after, now, limit).map(toKept) : [];
    const all = [...[...hot.values()].filter(isAsked), ...cold].sort((a, b) => compareText(a.id, b.id));
    return all.slice(0, limit).map(toItem);
  }

  dropExpired(now: number): void {
    let someAreCold = false;
    for (const of of this.#kinds.values()) {
      for (const kept of of.hot.values()) if (!isAlive(kept, now)) of.hot.delete(kept.id);
      someAreCold ||= of.someAreCold;
    }
    if (someAreCold) this.#cold.run(TIDY, now);
  }

  spill(): void {
    for (const of of this.#kinds.values())
      of.hot.spill((oldest) => {
        this.#cold.together(() => {
          for (const { kind, id, version, expiresAt, text } of oldest)
            this.#cold.run(PUT, kind, id, version, expiresAt ?? null, text);
        });
        of.someAreCold = true;
      });
  }

  #get(kind: string, id: string, now: number): Kept | undefined {
    const { hot, someAreCold } = this.#of(kind);
    const kept = hot.get(id);
    if (kept !== undefined) return isAlive(kept, now) ? kept : undefined;
    const row = someAreCold ? this.#cold.get(ONE, kind, id, now) : undefined;
    return row && toKept(row);
  }

  #of(kind: string): OfKind {
    const known = this.#kinds.get(kind);
    if (known !== undefined) return known;
    const hot = new Hot<string, Kept>(this.#most, ({ id, text }) => WEIGHT + id.length + text.length);
    const made = { hot, someAreCold: false };
    this.#kinds.set(kind, made);
    return made;
  }
}

/** Laid over what is known, if that is given. */
function textOf(value: JsonValue, known: Kept | undefined): string {
  if (known === undefined) return JSON.stringify(value);
  return JSON.stringify({ ...(JSON.parse(known.text) as JsonObject), ...(value as JsonObject) });
}

function isAlive({ expiresAt }: Kept, now: number): boolean {
  return expiresAt === undefined || expiresAt > now;
}

function toItem({ text, ...rest }: Kept): StoredItem {
  return { ...rest, value: JSON.parse(text) as JsonValue };
}

function toKept([kind, id, version, expiresAt, text]: ColdRow): Kept {
  return { kind, id, version, ...(expiresAt === null ? {} : { expiresAt }), text } as Kept;
}
