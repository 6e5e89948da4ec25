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

/** Small things outside of sessions, each in one of the two tiers. */
export class Items {
  readonly #cold: Cold;
  readonly #hot: Hot<string, Kept>;
  #someAreCold = false;

  constructor(cold: Cold, most: number) {
    this.#cold = cold;
    this.#hot = new Hot(most, ({ id, text }) => WEIGHT + id.length + text.length);
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
    if (!this.#hot.delete(nameOf(kind, id)) && this.#someAreCold) this.#cold.run(DROP, kind, id);
    if (text === undefined) return;
    const expiry = expiresAt === undefined ? {} : { expiresAt };
    this.#hot.set(nameOf(kind, id), { kind, id, version: (known?.version ?? 0) + 1, ...expiry, text });
  }

  page(
    kind: string,
    { after, limit, now }: { readonly after: string; readonly limit: number; readonly now: number },
  ): readonly StoredItem[] {
    const isAsked = (kept: Kept): boolean =>
      kept.kind === kind && compareText(kept.id, after) > 0 && isAlive(kept, now);
    const hot = [...this.#hot.values()].filter(isAsked);
    const cold = this.#someAreCold ? this.#cold.all(PAGE, kind, after, now, limit).map(toKept) : [];
    const all = [...hot, ...cold].sort((a, b) => compareText(a.id, b.id));
    return all.slice(0, limit).map(toItem);
  }

  dropExpired(now: number): void {
    for (const kept of this.#hot.values())
      if (!isAlive(kept, now)) this.#hot.delete(nameOf(kept.kind, kept.id));
    if (this.#someAreCold) this.#cold.run(TIDY, now);
  }

  spill(): void {
    this.#hot.spill((oldest) => {
      this.#cold.together(() => {
        for (const { kind, id, version, expiresAt, text } of oldest)
          this.#cold.run(PUT, kind, id, version, expiresAt ?? null, text);
      });
      this.#someAreCold = true;
    });
  }

  #get(kind: string, id: string, now: number): Kept | undefined {
    const hot = this.#hot.get(nameOf(kind, id));
    if (hot !== undefined) return isAlive(hot, now) ? hot : undefined;
    const row = this.#someAreCold ? this.#cold.get(ONE, kind, id, now) : undefined;
    return row && toKept(row);
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

function nameOf(kind: string, id: string): string {
  return `${kind}\0${id}`;
}

function toItem({ text, ...rest }: Kept): StoredItem {
  return { ...rest, value: JSON.parse(text) as JsonValue };
}

function toKept([kind, id, version, expiresAt, text]: ColdRow): Kept {
  return { kind, id, version, ...(expiresAt === null ? {} : { expiresAt }), text } as Kept;
}
