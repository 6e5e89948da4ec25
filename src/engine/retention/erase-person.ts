import type { JsonValue } from "../../protocol/index.ts";
import { erasedUser } from "../common/index.ts";
import { type Decider, refusalError } from "../decisions/index.ts";
import {
  actor,
  allHolds,
  diaryDraft,
  guardAgainstHolds,
  guardItem,
  type Hold,
  holdOn,
  holdOnLogins,
  isDiary,
  RETENTION_DIARY,
  readGuard,
  underHold,
} from "../holds/index.ts";
import { mentionsIn } from "../journal/index.ts";
import {
  type Draft,
  eachOf,
  pagesOf,
  type SessionRecord,
  type StoredItem,
  transact,
} from "../ledger/index.ts";
import type { EngineParts } from "../parts.ts";
import { loginsOf, userOfCaller } from "../people/index.ts";
import { eraseFinished } from "../sessions/index.ts";

/** Somebody who is erased, and what the ledger calls them from then on. */
export interface ErasedPerson {
  readonly user: string;
  readonly pseudonym: string;
}

/** A kind of items outside of sessions that may be a person's. */
export interface PersonalItems {
  readonly kind: string;
  /** What is left of an item's value: the same object if it does not name them, undefined if all of it is theirs. */
  readonly without: (item: StoredItem, person: ErasedPerson) => JsonValue | undefined;
}

/** Whom to erase, and how far. */
export interface PersonErasure {
  readonly user: string;
  readonly decider: Decider;
  /** Erases also the finished sessions of others in which they asked or decided. */
  readonly others: boolean;
  /** What else may be theirs, beside sessions and the state of the user. */
  readonly items: readonly PersonalItems[];
  readonly onProgress?: (sessions: number) => void;
}

/** What was erased, and what was left. */
export interface PersonErased {
  /** What the journal calls them. */
  readonly person: string;
  /** All ids of the person that were erased, as the policy has them. */
  readonly logins: readonly string[];
  readonly sessions: number;
  /** Items that were removed, or no longer name them. */
  readonly items: number;
  /** Finished sessions of others that name them, which were left. */
  readonly named: number;
  /** Sessions that could not be erased, and why: run it again when they are over. */
  readonly left: readonly { readonly session: string; readonly why: string }[];
}

const PAGE = 100;

/**
 * Erases one person: their sessions, what names them in erased sessions, and their settings and credentials. A session in
 * which something is open, running or unknown, or which a hold keeps, is left and told of. What was done is journalled
 * under a pseudonym. It can be repeated; what was erased already is not touched again.
 */
export async function erasePerson(parts: EngineParts, wanted: PersonErasure): Promise<PersonErased> {
  await parts.ready();
  const { ledger } = parts;
  const { user, onProgress } = wanted;
  const hold = holdOnLogins(await allHolds(ledger), loginsOf(user, parts.directory), parts.directory);
  if (hold !== undefined) throw refusalError(underHold(hold));
  const erasure = new Erasure(parts, wanted);
  for await (const sessions of pagesOf((page) => ledger.sessions("all", page), PAGE)) {
    for (const session of sessions) await erasure.take(session);
    onProgress?.(erasure.sessions);
  }
  const erased = await erasure.end();
  await ledger.tidy();
  return erased;
}

class Erasure {
  readonly #parts: EngineParts;
  readonly #wanted: PersonErasure;
  /** All ids of the person. */
  readonly #logins: readonly string[];
  /** What each of them, and the caller of that id, is called from then on. */
  readonly #names: ReadonlyMap<string, string>;
  /** State that sessions which were left still use. */
  readonly #inUse = new Set<string>();
  readonly #left: { readonly session: string; readonly why: string }[] = [];
  sessions = 0;
  #named = 0;

  constructor(parts: EngineParts, wanted: PersonErasure) {
    this.#parts = parts;
    this.#wanted = wanted;
    const { digestKey } = parts.ledger;
    this.#logins = loginsOf(wanted.user, parts.directory);
    const names = this.#logins.flatMap((login) => [login, userOfCaller(login)]);
    this.#names = new Map(names.map((name) => [name, erasedUser(digestKey, name)]));
  }

  /**
   * Removes what is theirs outside of sessions, in the commit that tells of all of it. Throws `under-hold` if a hold was
   * placed on them meanwhile: then only what was done before is told of.
   */
  async end(): Promise<PersonErased> {
    const { user, decider } = this.#wanted;
    const { ledger, directory } = this.#parts;
    const logins = this.#logins;
    const person = this.#pseudonym(user);
    const [sessions, left] = [this.sessions, this.#left];
    const { hold, items } = await transact<Ended>(
      this.#parts,
      { session: RETENTION_DIARY },
      async (snapshot) => {
        const guard = await readGuard(ledger);
        const holds = await allHolds(ledger);
        const ended = { hold: holdOnLogins(holds, logins, directory), items: 0 };
        const draft = diaryDraft(this.#parts, snapshot);
        guardAgainstHolds(draft, guard);
        if (ended.hold === undefined) ended.items = await this.#removeItems(draft, holds);
        const others = logins.filter((login) => login !== user).map((login) => this.#pseudonym(login));
        const told = { person, ...(others.length > 0 && { others }), sessions, items: ended.items };
        draft.journal("person-erased", { ...told, left: left.length, ...actor(decider) });
        return { draft, value: ended };
      },
    );
    if (hold !== undefined) throw refusalError(underHold(hold));
    return { person, logins, sessions, items, named: this.#named, left };
  }

  async take(session: SessionRecord): Promise<void> {
    if (isDiary(session)) return;
    const isOwn = this.#names.has(session.user);
    if (isOwn || (await this.#isErasedToo(session))) await this.#erase(session);
    else if (session.deletedAt !== undefined) await this.#anonymise(session);
  }

  /** Is it a session of others that names the person and is to be erased with them? */
  async #isErasedToo({ key, deletedAt }: SessionRecord): Promise<boolean> {
    const { people } = await mentionsIn(this.#parts.ledger.journal, key);
    if (!this.#logins.some((login) => people.has(login))) return false;
    if (this.#wanted.others || deletedAt !== undefined) return true;
    this.#named += 1;
    return false;
  }

  async #erase(session: SessionRecord): Promise<void> {
    const { key, app, user } = session;
    const erased = await eraseFinished(this.#parts, key, this.#wanted.decider.by.id);
    if (erased.ok) {
      this.sessions += 1;
      await this.#anonymise(session);
      return;
    }
    this.#left.push({ session: key, why: erased.message });
    this.#inUse.add(stateId(app, user));
  }

  /** What is left of an erased session still says who asked and who decided. */
  async #anonymise(session: SessionRecord): Promise<void> {
    const { ledger } = this.#parts;
    let held: Hold | undefined;
    await ledger.anonymise(session.key, this.#names, async () => {
      const { guard, hold } = await holdOn(this.#parts, session);
      held = hold;
      return hold === undefined ? guardItem(guard) : undefined;
    });
    if (held !== undefined) this.#left.push({ session: session.key, why: underHold(held).message });
  }

  #pseudonym(login: string): string {
    return this.#names.get(login) ?? "";
  }

  async #removeItems(draft: Draft, holds: readonly Hold[]): Promise<number> {
    const people = this.#logins.map((user) => ({ user, pseudonym: this.#pseudonym(user) }));
    let changed = 0;
    for (const { kind, without } of [this.#states(holds), ...this.#wanted.items]) {
      for await (const item of itemsOf(this.#parts, kind)) {
        const { version: read, value: before, ...rest } = item;
        const value = withoutAll(item, people, without);
        if (value === before) continue;
        draft.write({
          kind: "item",
          item: value === undefined ? { kind, id: item.id } : { ...rest, value },
          read,
        });
        changed += 1;
      }
    }
    return changed;
  }

  /** The state that the sessions of one app and user share, unless it is in use or the app is held. */
  #states(holds: readonly Hold[]): PersonalItems {
    const held = new Set(holds.flatMap(({ on, name }) => (on === "app" ? [name] : [])));
    const isTheirs = (id: string): boolean => {
      const [app = "", user = ""] = JSON.parse(id) as readonly string[];
      return this.#names.has(user) && !held.has(app) && !this.#inUse.has(id);
    };
    return { kind: "state of user", without: ({ id, value }) => (isTheirs(id) ? undefined : value) };
  }
}

/** What happened to the items: a hold keeps them, or how many were changed. */
interface Ended {
  readonly hold: Hold | undefined;
  readonly items: number;
}

/** What is left of an item without any of these ids. */
function withoutAll(
  item: StoredItem,
  people: readonly ErasedPerson[],
  without: PersonalItems["without"],
): JsonValue | undefined {
  let value: JsonValue | undefined = item.value;
  for (const person of people) {
    if (value === undefined) return undefined;
    value = without({ ...item, value }, person);
  }
  return value;
}

/** What a ledger calls the state of a user in an app. */
function stateId(app: string, user: string): string {
  return JSON.stringify([app, user]);
}

function itemsOf({ ledger }: EngineParts, kind: string): AsyncGenerator<StoredItem> {
  return eachOf((page) => ledger.items.list(kind, page), PAGE);
}
