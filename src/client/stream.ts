import type { Confirmation } from "../engine/index.ts";
import { CountersignProblem } from "./problem.ts";
import { readSse, type SseMessage } from "./sse.ts";
import { pause, type Transport } from "./transport.ts";
import type { ListPage, StreamMessage, StreamOptions } from "./types.ts";

const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 15_000;
// Heartbeats come every 15 seconds; a connection without any for three of them is dead, whatever TCP says.
const SILENCE_MS = 45_000;

/**
 * Yields changes until the signal aborts. Reconnects by itself after the last message; missed changes come first. A
 * permanent refusal (401, 403…) is thrown.
 */
export async function* followChanges(
  transport: Transport,
  { lastEventId, signal, onState }: StreamOptions = {},
): AsyncGenerator<StreamMessage> {
  const tell = onState ?? (() => {});
  const isOver = (): boolean => signal?.aborted === true;
  let last = lastEventId;
  let failures = 0;
  while (!isOver()) {
    tell("connecting");
    const connection = new Connection(signal);
    try {
      for await (const message of connection.messages(transport, last, () => tell("open"))) {
        failures = 0;
        last = message.id ?? last;
        const told = toStreamMessage(message, last ?? "");
        if (told !== undefined) yield told;
      }
    } catch (error) {
      if (isFinal(error)) throw error;
      failures += 1;
    } finally {
      connection.close();
    }
    if (isOver()) return;
    tell("waiting");
    await pause(backoff(failures), signal);
  }
}

class Connection {
  readonly #over = new AbortController();
  readonly #unlisten: () => void;
  #silence: ReturnType<typeof setTimeout> | undefined;

  constructor(signal: AbortSignal | undefined) {
    const abort = (): void => this.#over.abort();
    signal?.addEventListener("abort", abort);
    this.#unlisten = () => signal?.removeEventListener("abort", abort);
  }

  async *messages(
    transport: Transport,
    lastEventId: string | undefined,
    onOpen: () => void,
  ): AsyncGenerator<SseMessage> {
    this.#heard();
    const response = await transport.send({
      path: "/v1/confirmations/stream",
      headers: {
        accept: "text/event-stream",
        ...(lastEventId === undefined ? {} : { "last-event-id": lastEventId }),
      },
      signal: this.#over.signal,
    });
    onOpen();
    if (response.body === null) return;
    for await (const message of readSse(response.body, this.#over.signal)) {
      this.#heard();
      yield message;
    }
  }

  close(): void {
    clearTimeout(this.#silence);
    this.#unlisten();
    this.#over.abort();
  }

  #heard(): void {
    clearTimeout(this.#silence);
    this.#silence = setTimeout(() => this.#over.abort(), SILENCE_MS);
  }
}

function toStreamMessage({ event, data }: SseMessage, id: string): StreamMessage | undefined {
  if (data === undefined) return undefined;
  const told: unknown = JSON.parse(data);
  switch (event) {
    case "ready":
      return { type: "ready", id };
    case "confirmation":
      return { type: "confirmation", id, confirmation: told as Confirmation };
    case "reset":
      return { type: "reset", id, reason: (told as { readonly reason: string }).reason };
    case "snapshot":
      return { type: "snapshot", id, page: told as ListPage<Confirmation> };
    default:
      // A newer server may send other types.
      return undefined;
  }
}

function isFinal(error: unknown): boolean {
  if (!(error instanceof CountersignProblem)) return false;
  return error.status >= 400 && error.status < 500 && error.status !== 408 && error.status !== 429;
}

function backoff(failures: number): number {
  const ms = Math.min(FIRST_PAUSE_MS * 2 ** failures, LONGEST_PAUSE_MS);
  return ms / 2 + (Math.random() * ms) / 2;
}
