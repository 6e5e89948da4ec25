import type { IncomingMessage, ServerResponse } from "node:http";
import { LoopbackServer } from "./loopback-server.ts";

/** A request as it arrived. */
export interface Received {
  readonly id: string;
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
  readonly bytes: Uint8Array;
  readonly path: string;
}

/** Answers one request, or does not. */
export type Answer = (response: ServerResponse, received: Received) => void;

/** Answers with a status and nothing else. */
export function status(code: number, headers: { readonly [name: string]: string } = {}): Answer {
  return (response) => response.writeHead(code, headers).end();
}

/** Answers two times on one connection: a second answer waits there for whoever asks next. */
export function answerTwice(response: ServerResponse, body = ""): void {
  const answer = `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
  response.socket?.write(`${answer}${answer}`);
}

/** A real HTTP server that takes webhooks and does with them what a test says. */
export class WebhookReceiver extends LoopbackServer {
  readonly #received: Received[] = [];
  readonly #waiters = new Set<() => void>();
  answer: Answer = status(204);

  get received(): readonly Received[] {
    return this.#received;
  }

  get url(): string {
    return this.origin;
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

  protected answerTo(request: IncomingMessage, bytes: Buffer, response: ServerResponse): void {
    const received = {
      id: String(request.headers["webhook-id"]),
      headers: request.headers,
      body: bytes.toString(),
      bytes,
      path: request.url ?? "",
    };
    this.#received.push(received);
    for (const wake of this.#waiters) wake();
    this.#waiters.clear();
    this.answer(response, received);
  }
}
