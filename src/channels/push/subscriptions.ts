import { createHash } from "node:crypto";
import type { KeyValueStore, Principal, StoredItem } from "../../engine/index.ts";
import { isJsonArray, isJsonObject, type JsonObject, type JsonValue } from "../../protocol/index.ts";
import { type DeviceKeys, decodeDeviceKeys } from "./encrypt.ts";

const KIND = "push-subscription";
const ID_LENGTH = 32;
/** The page renews it whenever it is opened. A person who has not opened it for this long gets no more notifications. */
const KEPT_MS = 60 * 24 * 3_600_000;
const MOST_DEVICES = 20;

/** A device of a person, as its browser describes it. */
export interface Subscription {
  /** Names it in the ledger. Says nothing of the endpoint. */
  readonly id: string;
  readonly endpoint: string;
  readonly keys: DeviceKeys;
  /** Who was logged in there, with the rights of then. */
  readonly person: Principal;
  /** The item's. */
  readonly version: number;
}

/** The devices of all people, in the ledger. */
export class Subscriptions {
  readonly #store: KeyValueStore;
  readonly #now: () => number;

  constructor(store: KeyValueStore, now: () => number) {
    this.#store = store;
    this.#now = now;
  }

  /** Adds or renews a device, whose keys were checked. It belongs to whoever is logged in there now. */
  async put(given: Pick<Subscription, "endpoint" | "person"> & JsonKeys): Promise<void> {
    const { endpoint, p256dh, auth, person } = given;
    const id = idOf(endpoint);
    for (;;) {
      const { version = 0 } = (await this.#store.get(KIND, id)) ?? {};
      const value = { endpoint, p256dh, auth, person: toValue(person) };
      if (await this.#store.put({ kind: KIND, id, value, expiresAt: this.#now() + KEPT_MS }, version)) break;
    }
    await this.#dropOldest(person);
  }

  /** Forgets a device of this person; somebody else's stays. */
  async removeOf(endpoint: string, person: Principal): Promise<void> {
    const item = await this.#store.get(KIND, idOf(endpoint));
    const found = item && readSubscription(item);
    if (found !== undefined && isSame(found.person, person)) await this.remove(found);
  }

  /** Forgets a device that is gone, unless it has been renewed since. */
  async remove({ id, version }: Pick<Subscription, "id" | "version">): Promise<void> {
    await this.#store.remove({ kind: KIND, id, version });
  }

  async all(): Promise<readonly Subscription[]> {
    return (await this.#items()).flatMap((item) => readSubscription(item) ?? []);
  }

  async #items(): Promise<readonly StoredItem[]> {
    const found: StoredItem[] = [];
    let cursor: string | undefined;
    do {
      const page = await this.#store.list(KIND, cursor === undefined ? {} : { cursor });
      found.push(...page.items);
      cursor = page.next;
    } while (cursor !== undefined);
    return found;
  }

  async #dropOldest(person: Principal): Promise<void> {
    const own = (await this.#items()).filter((item) => {
      const found = readSubscription(item);
      return found !== undefined && isSame(found.person, person);
    });
    const oldest = own.toSorted((one, other) => (other.expiresAt ?? 0) - (one.expiresAt ?? 0));
    for (const item of oldest.slice(MOST_DEVICES)) await this.#store.remove(item);
  }
}

interface JsonKeys {
  /** In base64url. */
  readonly p256dh: string;
  readonly auth: string;
}

function idOf(endpoint: string): string {
  return createHash("sha256").update(endpoint).digest("hex").slice(0, ID_LENGTH);
}

function isSame(one: Principal, other: Principal): boolean {
  return one.id === other.id && one.kind === other.kind;
}

function toValue({ id, kind, roles, scopes, authenticated, onBehalfOf }: Principal): JsonObject {
  const acting = onBehalfOf === undefined ? {} : { onBehalfOf };
  return { id, kind, roles: [...roles], scopes: [...scopes], authenticated, ...acting };
}

function readSubscription({ id, value, version }: StoredItem): Subscription | undefined {
  if (!isJsonObject(value)) return undefined;
  const { endpoint, p256dh, auth } = value;
  const person = readPerson(value["person"]);
  if (typeof endpoint !== "string" || typeof p256dh !== "string" || typeof auth !== "string")
    return undefined;
  const keys = decodeDeviceKeys(p256dh, auth);
  if (person === undefined) return undefined;
  return keys && { id, endpoint, keys, person, version };
}

// Only `put` writes these, and it writes whole principals.
function readPerson(value: JsonValue | undefined): Principal | undefined {
  if (!isJsonObject(value) || !isJsonArray(value["roles"]) || !isJsonArray(value["scopes"])) return undefined;
  const { id, kind, authenticated, onBehalfOf } = value;
  if (typeof id !== "string" || typeof kind !== "string") return undefined;
  return {
    id,
    kind: kind as Principal["kind"],
    roles: value["roles"].map(String),
    scopes: value["scopes"].map(String),
    authenticated: authenticated === true,
    ...(typeof onBehalfOf === "string" ? { onBehalfOf } : {}),
  };
}
