import { isJsonArray, isJsonObject, type JsonValue } from "../../protocol/index.ts";
import { erasedUser } from "../common/index.ts";
import { type Decider, refusalError } from "../decisions/index.ts";
import { actor, allHolds, diaryDraft, isDiary, RETENTION_DIARY, underHold } from "../holds/index.ts";
import { mentionsIn } from "../journal/index.ts";
import { type SessionRecord, transact } from "../ledger/index.ts";
import type { EngineParts } from "../parts.ts";
import { userOfCaller } from "../people/index.ts";
import { eraseFinished } from "../sessions/index.ts";

/** Whom to erase, and how far. */
export interface PersonErasure {
  readonly user: string;
  readonly decider: Decider;
  /** Erases also the finished sessions of others in which they asked or decided. */
  readonly others: boolean;
  /** The kinds of items outside of sessions that may name a person. */
  readonly itemKinds: readonly string[];
  readonly onProgress?: (sessions: number) => void;
}

/** What was erased, and what was left. */
export interface PersonErased {
  /** What the journal calls them. */
  readonly person: string;
  readonly sessions: number;
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
  const { user, itemKinds, onProgress } = wanted;
  const hold = (await allHolds(ledger)).find(({ on, name }) => on === "user" && name === user);
  if (hold !== undefined) throw refusalError(underHold(hold));
  const erasure = new Erasure(parts, wanted);
  for (let cursor: string | undefined; ; ) {
    const request = { limit: PAGE, ...(cursor === undefined ? {} : { cursor }) };
    const { items, next } = await ledger.allSessions(request);
    for (const session of items) await erasure.take(session);
    onProgress?.(erasure.sessions);
    if (next === undefined) break;
    cursor = next;
  }
  const items = await removeItems(parts, itemKinds, user);
  const erased: PersonErased = { ...erasure.report, items };
  await note(parts, erased, wanted.decider);
  await ledger.tidy();
  return erased;
}

class Erasure {
  readonly #parts: EngineParts;
  readonly #wanted: PersonErasure;
  readonly #names: ReadonlyMap<string, string>;
  readonly #left: { readonly session: string; readonly why: string }[] = [];
  sessions = 0;
  #named = 0;

  constructor(parts: EngineParts, wanted: PersonErasure) {
    this.#parts = parts;
    this.#wanted = wanted;
    const { digestKey } = parts.ledger;
    const logins = [wanted.user, userOfCaller(wanted.user)];
    this.#names = new Map(logins.map((name) => [name, erasedUser(digestKey, name)]));
  }

  get report(): Omit<PersonErased, "items"> {
    const person = this.#names.get(this.#wanted.user) ?? "";
    return { person, sessions: this.sessions, named: this.#named, left: this.#left };
  }

  async take(session: SessionRecord): Promise<void> {
    if (isDiary(session)) return;
    const isOwn = this.#names.has(session.user);
    if (isOwn || (await this.#isErasedToo(session))) await this.#erase(session.key);
    // What is left of an erased session still says who asked and who decided.
    if (isOwn || session.deletedAt !== undefined) await this.#anonymise(session.key);
  }

  /** Is it a session of others that names the person and is to be erased with them? */
  async #isErasedToo({ key, deletedAt }: SessionRecord): Promise<boolean> {
    const { people } = await mentionsIn(this.#parts.ledger.journal, key);
    if (!people.has(this.#wanted.user)) return false;
    if (this.#wanted.others || deletedAt !== undefined) return true;
    this.#named += 1;
    return false;
  }

  async #erase(key: string): Promise<void> {
    const erased = await eraseFinished(this.#parts, key, this.#wanted.decider.by.id);
    if (erased.ok) this.sessions += 1;
    else this.#left.push({ session: key, why: erased.message });
    if (erased.ok) await this.#anonymise(key);
  }

  async #anonymise(key: string): Promise<void> {
    await this.#parts.ledger.anonymise(key, this.#names);
  }
}

async function removeItems({ ledger }: EngineParts, kinds: readonly string[], user: string): Promise<number> {
  let removed = 0;
  for (const kind of kinds) {
    for (let cursor: string | undefined; ; ) {
      const page = await ledger.items.list(kind, {
        limit: PAGE,
        ...(cursor === undefined ? {} : { cursor }),
      });
      for (const item of page.items)
        if ((names(item.value, user) || names(idOf(item.id), user)) && (await ledger.items.remove(item)))
          removed += 1;
      if (page.next === undefined) break;
      cursor = page.next;
    }
  }
  return removed;
}

/** The id of an item may be a list of names, as JSON. */
function idOf(id: string): JsonValue {
  try {
    return JSON.parse(id) as JsonValue;
  } catch {
    return id;
  }
}

function names(value: JsonValue, user: string): boolean {
  if (isJsonArray(value)) return value.some((one) => names(one, user));
  if (isJsonObject(value))
    return Object.entries(value).some(([name, one]) => name === user || names(one, user));
  return value === user;
}

async function note(parts: EngineParts, erased: PersonErased, decider: Decider): Promise<void> {
  const { person, sessions, items, left } = erased;
  await transact<void>(parts, { session: RETENTION_DIARY }, (snapshot) => {
    const draft = diaryDraft(parts, snapshot);
    draft.journal("person-erased", { person, sessions, items, left: left.length, ...actor(decider) });
    return { draft, value: undefined };
  });
}
