import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import type { Confirmation, Ledger, StoredItem, UsedUp } from "../../engine/index.ts";
import { isJsonArray, isJsonObject, type JsonObject, type JsonValue } from "../../protocol/index.ts";
import type { EmailPerson } from "./email-options.ts";

const KIND = "mail-link";
const SECRET_BYTES = 32;
const KEY_LENGTH = 32;
const LINK = /^([0-9a-f]{32})\.([A-Za-z0-9_-]{43})$/;
/** How many mails to one person about one question have a link that works. */
const MOST_SENT = 20;
const LONGEST_MS = 30 * 24 * 3_600_000;

/** What a link decides, and as whom. */
export interface LinkFacts {
  readonly confirmation: string;
  /** The version that was shown. */
  readonly version: number;
  readonly person: string;
}

/** A link that was sent, as it is stored. */
export interface FoundLink extends LinkFacts {
  /** The hash of the address that it was sent to. */
  readonly to: string;
  readonly isUsed: boolean;
  /** Uses it up, and with it every other link of this person to this question. */
  readonly uses: UsedUp;
}

/** One mail's link: the hashes of its secret and of its address. */
type SentLink = readonly [secret: string, to: string];

interface Links extends LinkFacts {
  readonly sent: readonly SentLink[];
  readonly isUsed: boolean;
}

/**
 * Links that decide one question, once, as one person. The ledger keeps hashes only. All links of a person to one
 * version of a question are one item, so that one use ends them all; a mail that is sent again has a secret of its own.
 */
export class DecisionLinks {
  readonly #ledger: Pick<Ledger, "items" | "now">;
  readonly #channel: string;

  constructor(ledger: Pick<Ledger, "items" | "now">, channel: string) {
    this.#ledger = ledger;
    this.#channel = channel;
  }

  /** A new link for a mail to this person; undefined if they have used one. */
  async create(about: Confirmation, { id: person, email }: EmailPerson): Promise<string | undefined> {
    const facts = { confirmation: about.id, version: about.version, person };
    const key = this.#keyOf(facts);
    const secret = randomBytes(SECRET_BYTES).toString("base64url");
    const link: SentLink = [hashOf("secret", secret), addressHash(email)];
    const latest = this.#ledger.now + LONGEST_MS;
    const until = about.expiresAt === undefined ? latest : Math.min(latest, Date.parse(about.expiresAt));
    for (;;) {
      const item = await this.#ledger.items.get(KIND, key);
      const known = readLinks(item?.value);
      if (known?.isUsed === true) return undefined;
      const sent = [...(known?.sent ?? []), link].slice(-MOST_SENT);
      const value = toValue({ ...facts, sent, isUsed: false });
      if (await this.#ledger.items.put({ kind: KIND, id: key, value, expiresAt: until }, item?.version ?? 0))
        return `${key}.${secret}`;
    }
  }

  /** The link with this text; undefined if we sent no such link, or it has expired. */
  async find(text: string): Promise<FoundLink | undefined> {
    const [, key = "", secret = ""] = LINK.exec(text) ?? [];
    const item = key === "" ? undefined : await this.#ledger.items.get(KIND, key);
    const links = readLinks(item?.value);
    if (item === undefined || links === undefined) return undefined;
    const [hash, to] = links.sent.find(([known]) => isSame(known, hashOf("secret", secret))) ?? [];
    if (hash === undefined || to === undefined) return undefined;
    const { confirmation, version, person, isUsed } = links;
    return { confirmation, version, person, to, isUsed, uses: usesOf(item, hash) };
  }

  /** Marks a link as used whose decision was stored before, so that nothing was committed with it. */
  async markUsed({ uses: { kind, id, expiresAt, use } }: FoundLink): Promise<void> {
    for (;;) {
      const item = await this.#ledger.items.get(kind, id);
      const value = use(item?.value);
      if (item === undefined || value === undefined) return;
      if (await this.#ledger.items.put({ kind, id, value, expiresAt }, item.version)) return;
    }
  }

  #keyOf({ confirmation, version, person }: LinkFacts): string {
    const words = JSON.stringify([this.#channel, confirmation, version, person]);
    return hashOf("key", words).slice(0, KEY_LENGTH);
  }
}

/** An address without what it says. */
export function addressHash(email: string): string {
  return hashOf("address", email.toLowerCase());
}

function usesOf({ id, expiresAt = 0 }: StoredItem, hash: string): UsedUp {
  return {
    kind: KIND,
    id,
    expiresAt,
    use: (value) => {
      const links = readLinks(value);
      const isGood = links?.isUsed === false && links.sent.some(([known]) => isSame(known, hash));
      return isGood ? toValue({ ...links, isUsed: true }) : undefined;
    },
  };
}

// The secrets are fully random, so a fast hash is safe.
function hashOf(what: string, text: string): string {
  return createHash("sha256").update(`mail link ${what}\n${text}`).digest("hex");
}

function isSame(one: string, other: string): boolean {
  const [left, right] = [Buffer.from(one), Buffer.from(other)];
  return left.length === right.length && timingSafeEqual(left, right);
}

function toValue({ confirmation, version, person, sent, isUsed }: Links): JsonObject {
  return { confirmation, version, person, sent: sent.map((link) => [...link]), isUsed };
}

function readLinks(value: JsonValue | undefined): Links | undefined {
  if (!isJsonObject(value) || !isJsonArray(value["sent"])) return undefined;
  const { confirmation, version, person, isUsed } = value;
  if (typeof confirmation !== "string" || typeof version !== "number" || typeof person !== "string")
    return undefined;
  const sent = value["sent"].flatMap((link): readonly SentLink[] => {
    const [secret, to] = isJsonArray(link) ? link : [];
    return typeof secret === "string" && typeof to === "string" ? [[secret, to]] : [];
  });
  // What cannot be read must not be usable.
  return { confirmation, version, person, sent, isUsed: isUsed !== false };
}
