import { type ClientRequest, type OutgoingHttpHeaders, request } from "node:http";
import { nowMs } from "./clock.ts";

const MESSAGE = /^data: \{"id":"([^"]+)".*?"status":"([a-z]+)"/m;

/** Reads a server's live feed, and knows when it first told of an answer. */
export class News {
  readonly #told = new Map<string, number>();
  readonly #headers: OutgoingHttpHeaders;
  #request: ClientRequest | undefined;

  constructor(headers: OutgoingHttpHeaders = {}) {
    this.#headers = headers;
  }

  /** Resolves when the feed has begun. */
  async open(url: string): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      this.#request = request(`${url}/v1/confirmations/stream`, { headers: this.#headers }, (incoming) => {
        if (incoming.statusCode !== 200)
          reject(new Error(`The live feed was answered ${incoming.statusCode}.`));
        let rest = "";
        incoming.setEncoding("utf8");
        incoming.on("data", (piece: string) => {
          const messages = (rest + piece).split("\n\n");
          rest = messages.pop() ?? "";
          for (const message of messages) this.#take(message);
          resolve();
        });
      });
      this.#request.on("error", reject);
      this.#request.end();
    });
  }

  /** When these were told of, as far as they were; forgets everything else. */
  take(confirmations: Iterable<string>): ReadonlyMap<string, number> {
    const taken = new Map<string, number>();
    for (const id of confirmations) {
      const at = this.#told.get(id);
      if (at !== undefined) taken.set(id, at);
    }
    this.#told.clear();
    return taken;
  }

  close(): void {
    this.#request?.on("error", () => {});
    this.#request?.destroy();
  }

  #take(message: string): void {
    const [, id, status] = MESSAGE.exec(message) ?? [];
    if (id === undefined || status === "requested" || this.#told.has(id)) return;
    this.#told.set(id, nowMs());
  }
}
