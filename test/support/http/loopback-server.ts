import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** A real HTTP server on loopback that can go away and come back at the same port. */
export abstract class LoopbackServer {
  #server: Server | undefined;
  #port = 0;

  protected get origin(): string {
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

  protected abstract answerTo(request: IncomingMessage, bytes: Buffer, response: ServerResponse): void;

  async #take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    try {
      for await (const chunk of request) chunks.push(chunk as Buffer);
    } catch {
      // The sender went away.
      return;
    }
    this.answerTo(request, Buffer.concat(chunks), response);
  }
}
