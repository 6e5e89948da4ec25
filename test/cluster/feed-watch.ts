import type { Confirmation } from "../../src/index.ts";
import { confirmationIn, type FeedMessage, FeedReader } from "../e2e/approvals/feed-reader.ts";
import type { Resources } from "../support/resources.ts";
import type { ServedReplica } from "./served-replica.ts";

/** A client of the live feed that keeps what it was told, and comes back elsewhere with the last id that it saw. */
export class FeedWatch {
  readonly #messages: FeedMessage[] = [];
  readonly #looks = new Set<() => void>();
  #reader: FeedReader | undefined;
  #lastId: string | undefined;
  /** Resolves when the connection that it has now has ended. */
  ended: Promise<void> = Promise.resolve();

  static async on(resources: Resources, replica: ServedReplica): Promise<FeedWatch> {
    const watch = new FeedWatch();
    resources.add(() => watch.leave());
    await watch.follow(replica);
    return watch;
  }

  /** Connects there, with the last id that was seen anywhere. */
  async follow({ url }: ServedReplica): Promise<void> {
    const lastEventId = this.#lastId;
    const reader = await FeedReader.open(
      {
        fetch: (request) =>
          fetch(url + new URL(request.url).pathname, {
            headers: lastEventId === undefined ? {} : { "last-event-id": lastEventId },
          }),
      },
      "ana",
    );
    this.#reader = reader;
    // What comes back from a replica that knows the id begins with what was missed.
    if (lastEventId === undefined) this.#lastId = (await reader.next())?.id;
    this.ended = this.#read(reader);
    this.ended.catch(() => {});
  }

  async leave(): Promise<void> {
    await this.#reader?.close();
    await this.ended.catch(() => {});
  }

  get messages(): readonly FeedMessage[] {
    return this.#messages;
  }

  /** The confirmation as it was last told. */
  latest(id: string): Confirmation | undefined {
    const about = this.#messages.map((message) => confirmationIn(message));
    return about.findLast((confirmation) => confirmation.id === id);
  }

  /** Resolves when there were so many messages. */
  async count(messages: number): Promise<void> {
    while (this.#messages.length < messages) await this.#next();
  }

  /** Resolves when the confirmation was told to be in this status, or another of these. */
  async until(id: string, ...statuses: readonly Confirmation["status"][]): Promise<Confirmation> {
    for (;;) {
      const now = this.latest(id);
      if (now !== undefined && statuses.includes(now.status)) return now;
      await this.#next();
    }
  }

  #next(): Promise<void> {
    return new Promise((resolve) => {
      this.#looks.add(resolve);
    });
  }

  async #read(reader: FeedReader): Promise<void> {
    for (;;) {
      const message = await reader.next();
      if (message === undefined) return;
      this.#messages.push(message);
      this.#lastId = message.id;
      for (const look of this.#looks) look();
      this.#looks.clear();
    }
  }
}
