import { CountersignError, type Event, encodeEvent, type JsonObject, type Wire } from "../protocol/index.ts";
import type { RunContext } from "./run-context.ts";

/** A session as the ADK's clients know it. */
export interface Session {
  readonly id: string;
  readonly appName: string;
  readonly userId: string;
  readonly state: JsonObject;
  readonly events: readonly Event[];
  /** Milliseconds since the epoch. */
  readonly lastUpdateTime: number;
}

interface Owned {
  /** If named, it must be this Runner's. */
  readonly appName?: string;
  readonly userId: string;
}

interface Named extends Owned {
  readonly sessionId: string;
}

/** The ADK's session service over the ledger. */
export class Sessions {
  readonly #open: () => Promise<RunContext>;
  readonly #wire: Wire;

  constructor(open: () => Promise<RunContext>, wire: Wire) {
    this.#open = open;
    this.#wire = wire;
  }

  /** Makes a session; refuses an id that is taken. */
  async createSession(
    input: Owned & { readonly sessionId?: string; readonly state?: JsonObject },
  ): Promise<Session> {
    const run = await this.#of(input);
    const id = input.sessionId ?? `s-${run.newId()}`;
    const created = await run.engine.createSession({ app: run.app, user: input.userId, id }, input.state);
    if (!created.ok) throw new CountersignError(created.code, created.message);
    const session = await this.getSession({ userId: input.userId, sessionId: id });
    if (session === undefined)
      throw new CountersignError("unknown-session", `The session ${id} was deleted at once.`);
    return session;
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

  /** A user's sessions, without their events. */
  async listSessions({ appName, userId }: Owned): Promise<readonly Session[]> {
    const run = await this.#of({ appName });
    const { ledger } = run.engine;
    const found: Session[] = [];
    for (let cursor: string | undefined; ; ) {
      const page = await ledger.sessions(
        { app: run.app, user: userId },
        cursor === undefined ? {} : { cursor },
      );
      for (const { key, id, app, user, updatedAt } of page.items) {
        found.push({
          id,
          appName: app,
          userId: user,
          state: await ledger.state(key),
          events: [],
          lastUpdateTime: updatedAt,
        });
      }
      if (page.next === undefined) return found;
      cursor = page.next;
    }
  }

  /** Deletes a session: what is open is withdrawn, content erased. Refused while a call of it executes. */
  async deleteSession({ appName, userId, sessionId }: Named): Promise<void> {
    const run = await this.#of({ appName });
    const deleted = await run.engine.deleteSession(
      { app: run.app, user: userId, id: sessionId },
      { id: userId },
    );
    if (!deleted.ok) throw new CountersignError(deleted.code, deleted.message);
  }

  async #of({ appName }: { readonly appName?: string | undefined }): Promise<RunContext> {
    const run = await this.#open();
    if (appName === undefined || appName === run.app) return run;
    throw new CountersignError("unknown-app", `This Runner serves ${run.app}, not ${appName}.`);
  }
}
