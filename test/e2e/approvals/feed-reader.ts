import type { App } from "../../../src/http/index.ts";
import type { Confirmation } from "../../../src/index.ts";
import { toRequest } from "./approvals-server.ts";

/** One message of the live feed. */
export interface FeedMessage {
  readonly id: string;
  readonly event: string;
  readonly data: unknown;
}

/** Reads the live feed as any client would, message by message. */
export class FeedReader {
  readonly status: number;
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>;
  readonly #decoder = new TextDecoder();
  #rest = "";
  /** The last id that came, with a message or alone. */
  lastId = "";

  private constructor(response: Response) {
    this.status = response.status;
    if (response.body === null) throw new Error("The feed has no body.");
    this.#reader = response.body.getReader();
  }

  static async open(
    app: Pick<App, "fetch">,
    person: string,
    options: { readonly lastEventId?: string; readonly query?: string } = {},
  ): Promise<FeedReader> {
    const { lastEventId, query = "" } = options;
    const headers = lastEventId === undefined ? {} : { "last-event-id": lastEventId };
    const path = `/v1/confirmations/stream${query}`;
    return new FeedReader(await app.fetch(toRequest(person, "GET", path, { headers })));
  }

  /** The next message; undefined once the stream has ended. Heartbeats only move `lastId`. */
  async next(): Promise<FeedMessage | undefined> {
    for (;;) {
      const block = await this.#block();
      if (block === undefined) return undefined;
      const fields = new Map(
        block.split("\n").map((line) => {
          const colon = line.indexOf(":");
          return [line.slice(0, colon), line.slice(colon + 1).trim()] as const;
        }),
      );
      this.lastId = fields.get("id") ?? this.lastId;
      const data = fields.get("data");
      if (data !== undefined)
        return { id: fields.get("id") ?? "", event: fields.get("event") ?? "", data: JSON.parse(data) };
    }
  }

  /** So many messages. */
  async take(count: number): Promise<readonly FeedMessage[]> {
    const taken: FeedMessage[] = [];
    while (taken.length < count) {
      const message = await this.next();
      if (message === undefined)
        throw new Error(`The feed ended after ${taken.length} of ${count} messages.`);
      taken.push(message);
    }
    return taken;
  }

  /** All messages until one satisfies. */
  async until(satisfied: (message: FeedMessage) => boolean): Promise<readonly FeedMessage[]> {
    const taken: FeedMessage[] = [];
    for (;;) {
      const [message] = await this.take(1);
      if (message === undefined) return taken;
      taken.push(message);
      if (satisfied(message)) return taken;
    }
  }

  async close(): Promise<void> {
    // One that was cut off has nothing left to cancel.
    await this.#reader.cancel().catch(() => {});
  }

  async #block(): Promise<string | undefined> {
    for (;;) {
      const end = this.#rest.indexOf("\n\n");
      if (end >= 0) {
        const block = this.#rest.slice(0, end);
        this.#rest = this.#rest.slice(end + 2);
        return block;
      }
      const { done, value } = await this.#reader.read();
      if (done) return undefined;
      this.#rest += this.#decoder.decode(value, { stream: true });
    }
  }
}

export function confirmationIn(message: FeedMessage | undefined): Confirmation {
  return message?.data as Confirmation;
}
