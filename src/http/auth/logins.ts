import { z } from "zod";
import {
  eachOf,
  type KeyValueStore,
  type Page,
  type PageRequest,
  type Principal,
  type StoredItem,
} from "../../engine/index.ts";
import type { JsonObject } from "../../protocol/index.ts";
import type { Known } from "./bearer.ts";
import { LONGEST_LOGIN_MS } from "./cookie.ts";
import { hashSecret, isSameSecret, newSecret } from "./secrets.ts";
import { Tokens } from "./tokens.ts";

const KIND = "login";
const PROOF = "login-proof";
const IDLE_MS = 12 * 60 * 60 * 1000;
/** The idle time is extended in steps, so that a busy page does not write at every request. */
const STEP_MS = 60 * 60 * 1000;

const STORED = z.object({
  principal: z.object({
    id: z.string(),
    kind: z.enum(["local", "token", "oidc", "agent"]),
    roles: z.array(z.string()),
    scopes: z.array(z.string()),
    authenticated: z.boolean(),
  }),
  token: z.string().exactOptional(),
  createdAt: z.number(),
  /** The login ends then in any case. */
  until: z.number(),
  /** The hash of the page's proof. */
  proof: z.string(),
});

/** How many letters of a login's id are shown. */
const SHOWN_LETTERS = 16;

/** What a browser gets at a login. Both halves are needed. */
export interface LoginSecrets {
  readonly cookie: string;
  /** For the page, to be sent as a header; never a cookie. */
  readonly proof: string;
}

/** A browser that is logged in, as people see it. */
export interface Login {
  readonly id: string;
  readonly user: string;
  readonly kind: Principal["kind"];
  /** The id of the API token that it was made with; it ends with that. */
  readonly token?: string;
  readonly createdAt: number;
  readonly expiresAt: number;
}

/** Browser logins. Stored in the ledger, so they work after a restart and on other servers. */
export class Logins {
  readonly #store: KeyValueStore;
  readonly #tokens: Tokens;
  readonly #now: () => number;

  constructor(store: KeyValueStore, now: () => number = Date.now) {
    this.#store = store;
    this.#tokens = new Tokens(store, now);
    this.#now = now;
  }

  /** Starts a login and returns its secrets; only their hashes are stored. `until` is when it ends at the latest. */
  async begin({
    principal,
    token,
    until: latest = Infinity,
  }: Known): Promise<LoginSecrets & { until: number }> {
    const [cookie, proof] = [newSecret(), newSecret()];
    const now = this.#now();
    const until = Math.min(now + LONGEST_LOGIN_MS, latest);
    const value = {
      principal,
      createdAt: now,
      until,
      proof: hashSecret(PROOF, proof),
      ...(token === undefined ? {} : { token }),
    };
    const expiresAt = Math.min(now + IDLE_MS, until);
    await this.#store.put(
      { kind: KIND, id: idOf(cookie), value: value as unknown as JsonObject, expiresAt },
      0,
    );
    return { cookie, proof, until };
  }

  /** Who logged in with these secrets; undefined if nobody, if it was idle for 12 hours, or if it has ended. */
  async find(secrets: LoginSecrets): Promise<Principal | undefined> {
    const { item, login } = (await this.#read(secrets)) ?? {};
    if (item === undefined || login === undefined) return undefined;
    // The rights of the token may have changed since; a revoked token allows nothing.
    const { token } = login;
    const known = token === undefined ? login : await this.#tokens.holder(token);
    if (known === undefined) return undefined;
    const expiresAt = Math.min(this.#now() + IDLE_MS, login.until);
    // Another request may have extended it at the same time; that is fine.
    if (expiresAt - (item.expiresAt ?? 0) >= STEP_MS)
      await this.#store.put({ ...item, expiresAt }, item.version);
    return known.principal;
  }

  /** Ends a login; without its proof nothing happens. */
  async end(secrets: LoginSecrets): Promise<void> {
    for (;;) {
      const { item } = (await this.#read(secrets)) ?? {};
      if (item === undefined || (await this.#store.remove(item))) return;
    }
  }

  async list(page?: PageRequest): Promise<Page<Login>> {
    const { items, next } = await this.#store.list(KIND, page);
    return { items: items.flatMap(toLogin), ...(next === undefined ? {} : { next }) };
  }

  /** Ends the login that is listed under this id, on every server; undefined if there is none. */
  async revoke(id: string): Promise<Login | undefined> {
    for await (const item of eachOf((page) => this.#store.list(KIND, page))) {
      const [login] = toLogin(item);
      if (login?.id === id && (await this.#discard(item))) return login;
    }
    return undefined;
  }

  async #read({ cookie, proof }: LoginSecrets): Promise<Found | undefined> {
    const item = await this.#store.get(KIND, idOf(cookie));
    const login = STORED.safeParse(item?.value);
    if (item === undefined || !login.success) return undefined;
    if (!isSameSecret(login.data.proof, hashSecret(PROOF, proof))) return undefined;
    return login.data.until > this.#now() ? { item, login: login.data } : undefined;
  }

  // It may be in use and be extended meanwhile.
  async #discard(listed: StoredItem): Promise<boolean> {
    for (let item: StoredItem | undefined = listed; item !== undefined; ) {
      if (await this.#store.remove(item)) return true;
      item = await this.#store.get(KIND, listed.id);
    }
    return false;
  }
}

interface Found {
  readonly item: StoredItem;
  readonly login: z.infer<typeof STORED>;
}

function idOf(cookie: string): string {
  return hashSecret(KIND, cookie);
}

function toLogin({ id, value, expiresAt }: StoredItem): readonly Login[] {
  const read = STORED.safeParse(value);
  if (!read.success) return [];
  const { principal, token, createdAt, until } = read.data;
  return [
    {
      id: id.slice(0, SHOWN_LETTERS),
      user: principal.id,
      kind: principal.kind,
      createdAt,
      expiresAt: expiresAt ?? until,
      ...(token === undefined ? {} : { token }),
    },
  ];
}
