import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** A request as it arrived. */
export interface Received {
  readonly id: string;
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
  readonly path: string;
}

/** Answers one request, or does not. */
export type Answer = (response: ServerResponse, received: Received) => void;

/** Answers with a status and nothing else. */
export function status(code: number, headers: { readonly [name: string]: string } = {}): Answer {
  return (response) => response.writeHead(code, headers).end();
}

/** A real HTTP server that takes webhooks and does with them what a test says. */
export class WebhookReceiver {
  readonly #received: Received[] = [];
  readonly #waiters = new Set<() => void>();
  #server: Server | undefined;
  #port = 0;
  answer: Answer = status(204);

  get received(): readonly Received[] {
    return this.#received;
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  /** Begins to listen, at the same port as before where it did before. */
  async listen(): Promise<this> {
    if (this.#server !== undefined) return this;
    const server = createServer((request, response) => void this.#take(request, response));
    server.listen(this.#port, "127.0.0.1");
    await once(server, "listening");
    this.#server = server;
    this.#port = (server.address() as AddressInfo).port;
    return this;
  }

  /** Breaks off all connections and takes no more. */
  async close(): Promise<void> {
    const server = this.#server;
    if (server === undefined) return;
    this.#server = undefined;
    const closed = once(server, "close");
    server.close();
    server.closeAllConnections();
    await closed;
  }

  /** Resolves once so many requests have arrived in all. */
  async count(wanted: number): Promise<readonly Received[]> {
    await this.until(() => this.#received.length >= wanted);
    return this.#received;
  }

  /** Resolves once what has arrived fits. */
  async until(fits: (received: readonly Received[]) => boolean): Promise<void> {
    while (!fits(this.#received)) {
      await new Promise<void>((resolve) => {
        this.#waiters.add(resolve);
      });
    }
  }

  async #take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    try {
      for await (const chunk of request) chunks.push(chunk as Buffer);
    } catch {
      // The sender went away.
      return;
    }
    const received = {
      id: String(request.headers["webhook-id"]),
      headers: request.headers,
      body: Buffer.concat(chunks).toString(),
      path: request.url ?? "",
    };
    this.#received.push(received);
    for (const wake of this.#waiters) wake();
    this.#waiters.clear();
    this.answer(response, received);
  }
}
