import {
  eachOf,
  type IdempotentRequest,
  type PrincipalInput,
  type SessionRecord,
} from "../../engine/index.ts";
import {
  CountersignError,
  type Event,
  encodeEvent,
  type JsonObject,
  type Wire,
} from "../../protocol/index.ts";
import type { RunContext } from "../run-context.ts";
import { toImported } from "./imported.ts";
import { sessionTitle } from "./session-title.ts";

/** A session as the ADK's clients know it. */
export interface Session {
  readonly id: string;
  readonly appName: string;
  readonly userId: string;
  readonly state: JsonObject;
  readonly events: readonly Event[];
  /** Milliseconds since the epoch. */
  readonly lastUpdateTime: number;
  /** The first words that the user said in it; only in a list that was asked for titles. */
  readonly title?: string;
}

interface Owned {
  /** If given, it must be this Runner's. */
  readonly appName?: string;
  readonly userId: string;
}

interface Named extends Owned {
  readonly sessionId: string;
}

interface Keyed {
  /** A repetition with the same key has no further effect. */
  readonly once?: IdempotentRequest;
}

interface NewSession extends Owned {
  readonly sessionId?: string;
  readonly state?: JsonObject;
  /** An earlier conversation to continue. Its confirmations are not imported: none is opened or answered. */
  readonly events?: readonly Event[];
  /** Who imports the conversation; its events are marked with this. Default: the user. */
  readonly by?: PrincipalInput;
  /** A repetition with the same key returns the first session. */
  readonly once?: IdempotentRequest;
}

/** The ADK's session service over the ledger. */
export class Sessions {
  readonly #open: () => Promise<RunContext>;
  readonly #wire: Wire;

  constructor(open: () => Promise<RunContext>, wire: Wire) {
    this.#open = open;
    this.#wire = wire;
  }

  /** Creates a session; refuses an id that is taken. */
  async createSession(input: NewSession): Promise<Session> {
    const run = await this.#of(input);
    const { userId, sessionId = `s-${run.newId()}`, state, events, by, once } = input;
    const created = await run.engine.createSession({ app: run.app, user: userId, id: sessionId }, state, {
      ...(events === undefined ? {} : { events: events.map(toImported) }),
      ...(by === undefined ? {} : { importedBy: by.id }),
      ...(once === undefined ? {} : { once }),
    });
    if (!created.ok) throw new CountersignError(created.code, created.message);
    return this.#existing({ userId, sessionId: created.id });
  }

  /** Merges a change into a session's state. */
  async updateSession({
    appName,
    ...named
  }: Named & Keyed & { readonly stateDelta: JsonObject }): Promise<Session> {
    const run = await this.#of({ appName });
    const { userId, sessionId, stateDelta, once } = named;
    const name = { app: run.app, user: userId, id: sessionId };
    const changed = await run.engine.changeState(name, stateDelta, once);
    if (!changed.ok) throw new CountersignError(changed.code, changed.message);
    return this.#existing(named);
  }

  /** A session with all its events, or undefined. */
  async getSession({ appName, userId, sessionId }: Named): Promise<Session | undefined> {
    const run = await this.#of({ appName });
    const { ledger } = run.engine;
    const known = await ledger.load({ session: { app: run.app, user: userId, id: sessionId } });
    if (known === undefined || known.session.deletedAt !== undefined) return undefined;
    const { key, id, user, app, updatedAt } = known.session;
    const events = await ledger.events(key);
    return {
      id,
      appName: app,
      userId: user,
      state: await ledger.state(key),
      events: events.map((event) => encodeEvent(event, this.#wire)),
      lastUpdateTime: updatedAt,
    };
  }

  /**
   * A user's sessions, without their events, in the order in which they were created. With `stateBytes`, the states of
   * the newest sessions up to that size together; those of the others are empty. With `titles`, the titles of as many
   * sessions: those that changed last.
   */
  async listSessions({
    appName,
    userId,
    stateBytes = Number.POSITIVE_INFINITY,
    titles = 0,
  }: Owned & { readonly stateBytes?: number; readonly titles?: number }): Promise<readonly Session[]> {
    const run = await this.#of({ appName });
    const { ledger } = run.engine;
    const found: Listed[] = [];
    const all = eachOf((page) => ledger.sessions({ app: run.app, user: userId }, page));
    for await (const { key, id, updatedAt } of all) found.push({ key, id, updatedAt });
    const titled = await titlesOf(ledger, found, titles);
    const sessions: Session[] = [];
    let left = stateBytes;
    // Keys begin with the time at which they were made.
    for (const { key, id, updatedAt } of found.toSorted((one, other) => (one.key > other.key ? -1 : 1))) {
      const state = left > 0 ? await ledger.state(key) : {};
      left -= Buffer.byteLength(JSON.stringify(state));
      const title = titled.get(key);
      sessions.push({
        id,
        appName: run.app,
        userId,
        state: left >= 0 ? state : {},
        events: [],
        lastUpdateTime: updatedAt,
        ...(title === undefined ? {} : { title }),
      });
    }
    return sessions.reverse();
  }

  /** Deletes a session: what is open is withdrawn, content erased. Refused while a call of it executes. */
  async deleteSession({
    appName,
    userId,
    sessionId,
    by = { id: userId },
    once,
  }: Named & Keyed & { readonly by?: PrincipalInput }): Promise<void> {
    const run = await this.#of({ appName });
    const deleted = await run.engine.deleteSession({ app: run.app, user: userId, id: sessionId }, by, once);
    if (!deleted.ok) throw new CountersignError(deleted.code, deleted.message);
  }

  async #existing(named: Omit<Named, "appName">): Promise<Session> {
    const session = await this.getSession(named);
    if (session !== undefined) return session;
    throw new CountersignError(
      "unknown-session",
      `The session ${named.sessionId} was deleted in the meantime.`,
    );
  }

  async #of({ appName }: { readonly appName?: string | undefined }): Promise<RunContext> {
    const run = await this.#open();
    if (appName === undefined || appName === run.app) return run;
    throw new CountersignError("unknown-app", `This Runner serves ${run.app}, not ${appName}.`);
  }
}

type Listed = Pick<SessionRecord, "key" | "id" | "updatedAt">;

/** The titles of the sessions that changed last, by key. */
async function titlesOf(
  ledger: RunContext["engine"]["ledger"],
  sessions: readonly Listed[],
  most: number,
): Promise<ReadonlyMap<string, string>> {
  const latest = sessions.toSorted((one, other) => other.updatedAt - one.updatedAt).slice(0, most);
  const titles = new Map<string, string>();
  for (let start = 0; start < latest.length; start += TITLES_AT_ONCE) {
    const some = latest.slice(start, start + TITLES_AT_ONCE);
    const found = await Promise.all(some.map(({ key }) => sessionTitle(ledger, key)));
    for (const [index, { key }] of some.entries()) {
      const title = found[index];
      if (title !== undefined) titles.set(key, title);
    }
  }
  return titles;
}

const TITLES_AT_ONCE = 10;
