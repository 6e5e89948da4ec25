import type { Ledger } from "../../engine/index.ts";
import { isJsonArray, isJsonObject, type JsonObject, type JsonValue } from "../../protocol/index.ts";
import type { FileNote } from "./target.ts";

const KIND = "siem";
/** How long one process writes alone. Longer than an attempt may take. */
const HOLD_MS = 30_000;

const MOST_LISTED = 20;

/** A record that the target refuses, while it accepts others. */
export interface SetAside {
  readonly seq: number;
  /** The id of its line. */
  readonly id: string;
  readonly at: number;
  readonly reason: string;
}

/** The records that were set aside: how many, and the newest of them. */
export interface AllSetAside {
  readonly count: number;
  readonly newest: readonly SetAside[];
}

/** How far the journal was exported. */
export interface Place {
  readonly seq: number;
  /** Of that record; absent at the beginning. */
  readonly hash?: string;
  /** The file as it was then. */
  readonly file?: FileNote;
  /** What was left out on the way. */
  readonly setAside?: AllSetAside;
}

/** The place without what was set aside on the way, to which these are added. */
export function settingAside({ setAside }: Place, refused: readonly SetAside[]): Pick<Place, "setAside"> {
  const { count = 0, newest = [] } = setAside ?? {};
  if (count + refused.length === 0) return {};
  return {
    setAside: { count: count + refused.length, newest: [...newest, ...refused].slice(-MOST_LISTED) },
  };
}

/** What the exports of this ledger have set aside, by their names. */
export async function listSetAside(
  items: Ledger["items"],
): Promise<readonly (AllSetAside & { readonly name: string })[]> {
  const found = await items.list(KIND);
  return found.items.flatMap(({ id, value }) => {
    const { setAside } = readValue(value).place;
    return setAside === undefined ? [] : [{ name: id, ...setAside }];
  });
}

/** The place as the ledger has it, and who writes what follows. */
export interface KnownPlace {
  readonly place: Place;
  readonly version: number;
  readonly holder?: string;
  readonly heldUntil: number;
}

/** Keeps the place in the ledger. Every change is compare-and-set, so that of several processes one writes. */
export class PlaceBook {
  readonly #ledger: Pick<Ledger, "items" | "now">;
  readonly #name: string;
  readonly #me: string;

  constructor(ledger: Pick<Ledger, "items" | "now">, name: string, me: string) {
    this.#ledger = ledger;
    this.#name = name;
    this.#me = me;
  }

  async read(): Promise<KnownPlace> {
    const item = await this.#ledger.items.get(KIND, this.#name);
    if (item === undefined) return { place: { seq: 0 }, version: 0, heldUntil: 0 };
    return { ...readValue(item.value), version: item.version };
  }

  /** How long another process holds it; 0 if none does. */
  heldForMs({ holder, heldUntil }: KnownPlace): number {
    return holder === undefined || holder === this.#me ? 0 : Math.max(heldUntil - this.#ledger.now, 0);
  }

  /** Takes it, for at least `forMs`. Undefined: another process was first. */
  async hold(known: KnownPlace, forMs: number): Promise<KnownPlace | undefined> {
    if (known.holder === this.#me && known.heldUntil - this.#ledger.now > forMs) return known;
    return this.#put(known, known.place, this.#ledger.now + HOLD_MS);
  }

  /** Moves it. Undefined: this process was stopped for so long that another one has taken it. */
  move(known: KnownPlace, place: Place): Promise<KnownPlace | undefined> {
    return this.#put(known, place, this.#ledger.now + HOLD_MS);
  }

  /** Lets others go on at once. */
  async release(): Promise<void> {
    const known = await this.read();
    if (known.holder === this.#me) await this.#put(known, known.place, 0);
  }

  async #put({ version }: KnownPlace, place: Place, heldUntil: number): Promise<KnownPlace | undefined> {
    const holder = this.#me;
    const { file, setAside, ...rest } = place;
    const value = {
      ...rest,
      ...(file === undefined ? {} : { file: { ...file } }),
      ...(setAside === undefined ? {} : { setAside: toJson(setAside) }),
      holder,
      heldUntil,
    };
    const isPut = await this.#ledger.items.put({ kind: KIND, id: this.#name, value }, version);
    return isPut ? { place, version: version + 1, holder, heldUntil } : undefined;
  }
}

function readValue(value: unknown): Omit<KnownPlace, "version"> {
  const { seq, hash, file, setAside, holder, heldUntil } = (value ?? {}) as JsonObject;
  const { inode, size } = isJsonObject(file ?? null) ? (file as JsonObject) : {};
  return {
    place: {
      seq: typeof seq === "number" ? seq : 0,
      ...(typeof hash === "string" ? { hash } : {}),
      ...(typeof inode === "string" && typeof size === "number" ? { file: { inode, size } } : {}),
      ...readSetAside(setAside),
    },
    ...(typeof holder === "string" ? { holder } : {}),
    heldUntil: typeof heldUntil === "number" ? heldUntil : 0,
  };
}

function toJson({ count, newest }: AllSetAside): JsonObject {
  return { count, newest: newest.map((record) => ({ ...record })) };
}

function readSetAside(value: JsonValue | undefined): Pick<Place, "setAside"> {
  if (value === undefined || !isJsonObject(value)) return {};
  const { count, newest } = value;
  if (typeof count !== "number" || newest === undefined || !isJsonArray(newest)) return {};
  const records = newest.flatMap((record): readonly SetAside[] => {
    const { seq, id, at, reason } = isJsonObject(record) ? record : {};
    const isWhole = typeof seq === "number" && typeof at === "number";
    return isWhole && typeof id === "string" && typeof reason === "string" ? [{ seq, at, id, reason }] : [];
  });
  return { setAside: { count, newest: records } };
}
