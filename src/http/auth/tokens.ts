import { randomBytes } from "node:crypto";
import { z } from "zod";
import type { KeyValueStore, Page, PageRequest, StoredItem } from "../../engine/index.ts";
import { CountersignError, type JsonObject } from "../../protocol/index.ts";
import { SCOPES, type Scope } from "../scopes.ts";
import type { Known } from "./bearer.ts";
import { hashSecret, isSameSecret, newSecret } from "./secrets.ts";
import { flawOfUserId } from "./user-id.ts";

const KIND = "token";
const PREFIX = "cst_";
const ID_BYTES = 8;
const STORED = z.object({
  user: z.string(),
  kind: z.enum(["token", "agent"]),
  roles: z.array(z.string()),
  scopes: z.array(z.enum(SCOPES)),
  label: z.string().exactOptional(),
  createdAt: z.number(),
  createdBy: z.string(),
  revokedAt: z.number().exactOptional(),
  revokedBy: z.string().exactOptional(),
  lastUsedDay: z.number().exactOptional(),
  hash: z.string(),
});
const FORM = /^cst_([0-9a-f]{16})_([\w-]{43})$/;

/** An API token as it is stored, without its secret. */
export interface Token {
  readonly id: string;
  readonly user: string;
  /** `agent`: for a program that must never decide, settle or withdraw anything, whatever its scopes and roles. */
  readonly kind: "token" | "agent";
  readonly roles: readonly string[];
  readonly scopes: readonly Scope[];
  readonly label?: string;
  readonly createdAt: number;
  readonly createdBy: string;
  readonly expiresAt?: number;
  readonly revokedAt?: number;
  readonly revokedBy?: string;
  /** The start of the last day (UTC) on which it was used. */
  readonly lastUsedDay?: number;
}

/** What a new API token needs. */
export type NewToken = Pick<Token, "user" | "roles" | "scopes" | "label" | "createdBy" | "expiresAt"> &
  Partial<Pick<Token, "kind">>;

/** The API tokens of a ledger. They are stored there as hashes, so every server of the ledger knows them. */
export class Tokens {
  readonly #store: KeyValueStore;
  readonly #now: () => number;

  constructor(store: KeyValueStore, now: () => number = Date.now) {
    this.#store = store;
    this.#now = now;
  }

  /** Creates a token. `secret` is the complete credential; it is returned only here. */
  async create(wanted: NewToken): Promise<{ readonly token: Token; readonly secret: string }> {
    const flaw = flawOfUserId(wanted.user);
    if (flaw !== undefined) throw invalid("user", `The user "${wanted.user}" ${flaw}.`);
    if (wanted.scopes.length === 0) throw invalid("scopes", "A token needs at least one scope.");
    const id = randomBytes(ID_BYTES).toString("hex");
    const token: Token = { kind: "token", ...wanted, id, createdAt: this.#now() };
    const secret = newSecret();
    const stored = { token, hash: hashSecret(token.id, secret) };
    if (!(await this.#keep(stored, 0)))
      throw new CountersignError("internal", "A generated token id already exists.");
    return { token, secret: `${PREFIX}${token.id}_${secret}` };
  }

  async list(page?: PageRequest): Promise<Page<Token>> {
    const { items, next } = await this.#store.list(KIND, page);
    return { items: items.map((item) => fromItem(item).token), ...(next === undefined ? {} : { next }) };
  }

  /** Ends a token, and every login made with it, at once. Revoking twice is harmless; undefined if there is none. */
  async revoke(id: string, by: string): Promise<Token | undefined> {
    for (;;) {
      const item = await this.#store.get(KIND, id);
      if (item === undefined) return undefined;
      const stored = fromItem(item);
      if (stored.token.revokedAt !== undefined) return stored.token;
      const token = { ...stored.token, revokedAt: this.#now(), revokedBy: by };
      if (await this.#keep({ ...stored, token }, item.version)) return token;
    }
  }

  /** The owner of a credential; undefined if it is not a token, or expired, revoked or forged. */
  async read(credential: string): Promise<Known | undefined> {
    const [, id, secret] = FORM.exec(credential) ?? [];
    if (id === undefined || secret === undefined) return undefined;
    const item = await this.#store.get(KIND, id);
    if (item === undefined) return undefined;
    const stored = fromItem(item);
    if (!isSameSecret(stored.hash, hashSecret(id, secret)) || stored.token.revokedAt !== undefined)
      return undefined;
    await this.#noteUse(stored, item.version);
    return toKnown(stored.token);
  }

  /** The owner of a token now, by its id; undefined if it is expired or revoked. */
  async holder(id: string): Promise<Known | undefined> {
    const item = await this.#store.get(KIND, id);
    if (item === undefined) return undefined;
    const { token } = fromItem(item);
    return token.revokedAt === undefined ? toKnown(token) : undefined;
  }

  // Once a day, so that a busy token costs few writes. If another process changed it meanwhile, this write is dropped.
  async #noteUse(stored: Stored, version: number): Promise<void> {
    const now = this.#now();
    const today = now - (now % 86_400_000);
    if (stored.token.lastUsedDay === today) return;
    await this.#keep({ ...stored, token: { ...stored.token, lastUsedDay: today } }, version);
  }

  #keep({ token, hash }: Stored, read: number): Promise<boolean> {
    const { id, expiresAt, ...rest } = token;
    const value = { ...rest, hash } as unknown as JsonObject;
    return this.#store.put(
      { kind: KIND, id, value, ...(expiresAt === undefined ? {} : { expiresAt }) },
      read,
    );
  }
}

/** The public part of a credential: the token id that it claims. Undefined if it has none. */
export function tokenIdOf(credential: string): string | undefined {
  return FORM.exec(credential)?.[1];
}

interface Stored {
  readonly token: Token;
  readonly hash: string;
}

function toKnown({ id, user, kind, roles, scopes }: Token): Known {
  return { principal: { id: user, kind, roles, scopes, authenticated: true }, token: id };
}

function fromItem({ id, value, expiresAt }: StoredItem): Stored {
  const read = STORED.safeParse(value);
  if (!read.success)
    throw new CountersignError("internal", `The token ${id} cannot be read from the ledger.`);
  const { hash, ...token } = read.data;
  return { token: { id, ...token, ...(expiresAt === undefined ? {} : { expiresAt }) }, hash };
}

function invalid(field: string, message: string): CountersignError {
  return new CountersignError("invalid-option", message, { details: { field } });
}
