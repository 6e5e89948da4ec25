import type { Ledger } from "../../engine/index.ts";
import { isJsonObject, type JsonObject } from "../../protocol/index.ts";
import type { FileNote } from "./target.ts";

const KIND = "siem";
/** How long one process writes alone. Longer than an attempt may take. */
const HOLD_MS = 30_000;

/** How far the journal was exported. */
export interface Place {
  readonly seq: number;
  /** Of that record; absent at the beginning. */
  readonly hash?: string;
  /** The file as it was then. */
  readonly file?: FileNote;
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
    const { file, ...rest } = place;
    const value = { ...rest, ...(file === undefined ? {} : { file: { ...file } }), holder, heldUntil };
    const isPut = await this.#ledger.items.put({ kind: KIND, id: this.#name, value }, version);
    return isPut ? { place, version: version + 1, holder, heldUntil } : undefined;
  }
}

function readValue(value: unknown): Omit<KnownPlace, "version"> {
  const { seq, hash, file, holder, heldUntil } = (value ?? {}) as JsonObject;
  const { inode, size } = isJsonObject(file ?? null) ? (file as JsonObject) : {};
  return {
    place: {
      seq: typeof seq === "number" ? seq : 0,
      ...(typeof hash === "string" ? { hash } : {}),
      ...(typeof inode === "string" && typeof size === "number" ? { file: { inode, size } } : {}),
    },
    ...(typeof holder === "string" ? { holder } : {}),
    heldUntil: typeof heldUntil === "number" ? heldUntil : 0,
  };
}
