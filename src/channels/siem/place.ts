import type { Ledger } from "../../engine/index.ts";
import { isJsonArray, isJsonObject, type JsonObject, type JsonValue } from "../../protocol/index.ts";
import type { FileNote } from "./target.ts";

const KIND = "siem";
/** How long one process writes alone. Longer than an attempt may take. */
const HOLD_MS = 30_000;

const MOST_LISTED = 100;

/** A record that the target refuses, while it accepts others. */
export interface SetAside {
  readonly seq: number;
  /** The id of its line. */
  readonly id: string;
  readonly at: number;
  readonly reason: string;
  /** Somebody asked to send it once more. */
  readonly again?: true;
}

/** The records that were set aside: how many, and the newest of them. */
export interface AllSetAside {
  readonly count: number;
  readonly newest: readonly SetAside[];
}

/** How far the journal was exported. */
export interface Place {
  readonly seq: number;
  /** The hash of that record; absent at the beginning. */
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

/** What is left after one of them was sent, was refused once more, or is dropped. */
export function settledAside(
  { setAside }: Place,
  { seq }: Pick<SetAside, "seq">,
  refused?: SetAside,
): Pick<Place, "setAside"> {
  const { count = 0, newest = [] } = setAside ?? {};
  const left = newest.flatMap((record) => (record.seq === seq ? (refused ?? []) : [record]));
  const gone = newest.length - left.length;
  return count - gone <= 0 ? {} : { setAside: { count: count - gone, newest: left } };
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

/** Keeps the place in the ledger. Every change is compare-and-set, so that only one process writes at a time. */
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
    const value = toValue({ place, holder, heldUntil });
    const isPut = await this.#ledger.items.put({ kind: KIND, id: this.#name, value }, version);
    return isPut ? { place, version: version + 1, holder, heldUntil } : undefined;
  }
}

/**
 * Changes what an export has set aside, whoever writes meanwhile: that one finds the place changed, and begins its batch
 * anew. Undefined: `change` finds nothing to change.
 */
export async function changeSetAside<T>(
  items: Ledger["items"],
  name: string,
  change: (place: Place) => { readonly setAside: Pick<Place, "setAside">; readonly result: T } | undefined,
): Promise<T | undefined> {
  for (;;) {
    const item = await items.get(KIND, name);
    if (item === undefined) return undefined;
    const known = readValue(item.value);
    const changed = change(known.place);
    if (changed === undefined) return undefined;
    const { setAside: _before, ...place } = known.place;
    const value = toValue({ ...known, place: { ...place, ...changed.setAside } });
    if (await items.put({ kind: KIND, id: name, value }, item.version)) return changed.result;
  }
}

function toValue({ place, holder, heldUntil }: Omit<KnownPlace, "version">): JsonObject {
  const { file, setAside, ...rest } = place;
  return {
    ...rest,
    ...(file === undefined ? {} : { file: { ...file } }),
    ...(setAside === undefined ? {} : { setAside: toJson(setAside) }),
    ...(holder === undefined ? {} : { holder }),
    heldUntil,
  };
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
    const { seq, id, at, reason, again } = isJsonObject(record) ? record : {};
    const isWhole = typeof seq === "number" && typeof at === "number";
    if (!isWhole || typeof id !== "string" || typeof reason !== "string") return [];
    return [{ seq, at, id, reason, ...(again === true ? { again } : {}) }];
  });
  return { setAside: { count, newest: records } };
}
