import { type Engine, mayDecide, partsOf, type SessionName } from "../../engine/index.ts";
import type { Runner } from "../../index.ts";
import {
  type Content,
  CountersignError,
  type Event,
  encodeAdkAnswer,
  encodeEvent,
  type JsonValue,
} from "../../protocol/index.ts";
import { redactCalls } from "../../runtime/index.ts";
import type { FoundConfirmation } from "../find-confirmation.ts";
import { inert } from "../output.ts";
import { localPrincipal, VIA } from "../wiring.ts";
import type { Screen } from "./screen.ts";

const MOST_OPEN = 100;

/** One session with an agent, as the ledger has it: what is said, what is asked, what has been shown. */
export class Conversation {
  readonly name: SessionName;
  readonly #runner: Runner;
  readonly #engine: Engine;
  readonly #screen: Screen;
  /** The `via` that decisions are recorded with; undefined if none are made here. */
  readonly #decidesVia: string | undefined;
  readonly #told = new Set<string>();
  #shown = 0;
  #looking: Promise<void> = Promise.resolve();

  constructor(input: {
    readonly runner: Runner;
    readonly engine: Engine;
    readonly screen: Screen;
    readonly name: SessionName;
    readonly decidesVia: string | undefined;
  }) {
    this.#runner = input.runner;
    this.#engine = input.engine;
    this.#screen = input.screen;
    this.name = input.name;
    this.#decidesVia = input.decidesVia;
  }

  /** How many events the session has; these are not shown again. */
  async begin(): Promise<number> {
    const key = await this.#key();
    this.#shown = key === undefined ? 0 : (await this.#engine.ledger.events(key)).length;
    return this.#shown;
  }

  /** Sends a message, and shows what happens until a person is needed. */
  async say(text: string): Promise<void> {
    await this.#run({ role: "user", parts: [{ text }] });
  }

  /** Answers a question, and shows what happens then. Throws if refused. */
  async answer(
    { confirmation: { id } }: FoundConfirmation,
    answer: { readonly confirmed: boolean; readonly payload?: JsonValue; readonly reason?: string },
  ): Promise<void> {
    await this.#run({ role: "user", parts: [encodeAdkAnswer({ id, ...answer })] });
  }

  /** Shows what happened in the session that has not been shown: from other clients or processes. */
  async showNews(): Promise<void> {
    for (const event of await this.#news()) this.#screen.event(event);
  }

  /** What waits for a person, in the order in which it was asked. */
  async open(): Promise<readonly FoundConfirmation[]> {
    const key = await this.#key();
    if (key === undefined) return [];
    const { ledger } = this.#engine;
    const { items } = await ledger.confirmations({ state: "open", session: key }, { limit: MOST_OPEN });
    const found: FoundConfirmation[] = [];
    for (const { confirmation, call } of items) {
      const snapshot = await ledger.load({ confirmation: confirmation.id });
      if (snapshot !== undefined) found.push({ ...snapshot, call, confirmation });
    }
    return found.toSorted(
      (one, other) =>
        one.confirmation.requestedAt - other.confirmation.requestedAt || one.call.ord - other.call.ord,
    );
  }

  /** May the local user decide it? */
  mayDecide({ confirmation }: FoundConfirmation): boolean {
    return this.#decidesVia !== undefined && mayDecide(confirmation, localPrincipal());
  }

  /** Calls whose outcome is unknown, by the id to settle them with. */
  async unknown(): Promise<readonly { readonly id: string; readonly tool: string }[]> {
    const key = await this.#key();
    const calls = key === undefined ? [] : await this.#engine.ledger.unanswered(key);
    return calls
      .filter(({ status }) => status === "unknown")
      .map(({ id, tool, confirmation }) => ({ id: confirmation ?? id, tool }));
  }

  /** Calls back when a question is no longer open, until the returned function is called. */
  whenClosed({ confirmation: { id } }: FoundConfirmation, onClosed: () => void): () => void {
    const { ledger } = this.#engine;
    const look = async (): Promise<void> => {
      const now = await ledger.load({ confirmation: id });
      if (now?.confirmation?.status !== "requested") onClosed();
    };
    // A failed check is repeated at the next change; the person can always answer.
    return ledger.onChange(() => {
      look().catch(() => {});
    });
  }

  /** Calls back when something happened that has not been shown, until the returned function is called. */
  whenNews(onNews: (show: () => void) => void): () => void {
    const look = async (): Promise<void> => {
      const news = await this.#news();
      if (news.length === 0) return;
      onNews(() => {
        for (const event of news) this.#screen.event(event);
      });
    };
    return this.#engine.ledger.onChange(() => {
      look().catch(() => {});
    });
  }

  /** Resolves when a call that was decided elsewhere has ended, and what follows from it here. */
  async settled({ call, confirmation }: FoundConfirmation): Promise<void> {
    await this.#engine.finished(call.id);
    await partsOf(this.#engine).executions.settledIn(confirmation.invocation);
  }

  async #run(message: Content): Promise<void> {
    const { user: userId, id: sessionId } = this.name;
    const events = this.#runner.run({
      userId,
      sessionId,
      message,
      streaming: true,
      by: localPrincipal(),
      via: this.#decidesVia ?? VIA,
    });
    try {
      for await (const event of events) {
        this.#told.add(event.id);
        const key = event.partial === true ? undefined : await this.#key();
        const [shown = event] =
          key === undefined ? [event] : await redactCalls(this.#engine.ledger, key, [event]);
        this.#screen.event(shown);
      }
    } finally {
      await this.showNews();
    }
  }

  /** The events since the last read that were not shown. One read at a time, or two would find the same events. */
  #news(): Promise<readonly Event[]> {
    const news = this.#looking.then(() => this.#look());
    this.#looking = news.then(
      () => {},
      () => {},
    );
    return news;
  }

  async #look(): Promise<readonly Event[]> {
    const key = await this.#key();
    if (key === undefined) return [];
    const stored = await this.#engine.ledger.events(key, { after: this.#shown });
    this.#shown += stored.length;
    const unseen = stored.filter(
      ({ id, author, closings }) => !this.#told.delete(id) && author !== "user" && closings === undefined,
    );
    const encoded = unseen.map((event) => encodeEvent(event, "adk"));
    return redactCalls(this.#engine.ledger, key, encoded);
  }

  async #key(): Promise<string | undefined> {
    const known = await this.#engine.ledger.load({ session: this.name });
    if (known?.session.deletedAt === undefined) return known?.session.key;
    throw new CountersignError(
      "session-deleted",
      `The session ${inert(this.name.id)} was deleted. Start a new one.`,
    );
  }
}
