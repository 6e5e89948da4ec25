import type { AgentCard, Message, Task } from "@a2a-js/sdk";
import {
  type Client,
  ClientFactory,
  DefaultAgentCardResolver,
  JsonRpcTransportFactory,
  RestTransportFactory,
  ServiceParameters,
  withA2AExtensions,
} from "@a2a-js/sdk/client";
import { A2AError, isJsonRpcError } from "@a2a-js/sdk/errors";
import { CountersignError, KAGENT_HITL_EXTENSION } from "../../protocol/index.ts";

/**
 * Headers for every request to the remote server, for its login. A function is called each time, so that a token can be
 * renewed.
 */
export type PeerHeaders = () => Readonly<Record<string, string>> | Promise<Readonly<Record<string, string>>>;

export interface PeerOptions {
  readonly card: URL | AgentCard;
  readonly headers?: PeerHeaders | undefined;
}

const TIMEOUT_MS = 60_000;
const MAX_BYTES = 4 * 1024 * 1024;
const INTERNAL_ERROR = -32603;
const PASSING: ReadonlySet<string> = new Set([
  "session-busy",
  "ledger-busy",
  "rate-limited",
  "closed",
  "internal",
]);

/**
 * The remote server. A protocol message is an answer; everything else (no connection, a proxy's page, a timeout, an
 * internal error) means that it was not reached and can be tried again.
 */
export class Peer {
  readonly #options: PeerOptions;
  #client: Promise<Client> | undefined;

  constructor(options: PeerOptions) {
    this.#options = options;
  }

  /** Sends a message and does not wait for its result. */
  async send(message: Message, signal: AbortSignal): Promise<Task | Message> {
    const configuration = {
      acceptedOutputModes: ["text/plain"],
      taskPushNotificationConfig: undefined,
      historyLength: 0,
      returnImmediately: true,
    };
    const client = await this.#connected();
    return client.sendMessage(
      { message, configuration, metadata: undefined, tenant: "" },
      requestOptions(signal),
    );
  }

  async task(id: string, signal: AbortSignal): Promise<Task> {
    const client = await this.#connected();
    const task = await client.getTask({ id, historyLength: 0, tenant: "" }, requestOptions(signal));
    if (task.id !== id) throw new Error(`It answered about the task "${task.id}", not "${id}".`);
    return task;
  }

  async cancel(id: string, signal: AbortSignal): Promise<void> {
    const client = await this.#connected();
    await client.cancelTask({ id, tenant: "", metadata: undefined }, requestOptions(signal));
  }

  // A failed request for the card may succeed later.
  async #connected(): Promise<Client> {
    this.#client ??= this.#connect().catch((error: unknown) => {
      this.#client = undefined;
      throw error;
    });
    return this.#client;
  }

  async #connect(): Promise<Client> {
    const { card } = this.#options;
    const fetchImpl = this.#fetch(originsOf(card));
    const shared = { fetchImpl, legacyCompat: { enabled: true } };
    const factory = new ClientFactory({
      transports: [new JsonRpcTransportFactory(shared), new RestTransportFactory(shared)],
      cardResolver: new DefaultAgentCardResolver(shared),
      clientConfig: { polling: true },
    });
    return card instanceof URL ? factory.createFromUrl(card.href, "") : factory.createFromAgentCard(card);
  }

  /** Only the origins that the author named get the headers; a card cannot send them elsewhere. */
  #fetch(origins: ReadonlySet<string>): typeof fetch {
    return async (input, init = {}) => {
      const request = new Request(input, init);
      if (!origins.has(new URL(request.url).origin)) {
        throw new CountersignError(
          "foreign-origin",
          `The agent card points to a different origin, ${new URL(request.url).origin}. If that is intended, pass the card itself.`,
        );
      }
      for (const [name, value] of Object.entries((await this.#options.headers?.()) ?? {})) {
        request.headers.set(name, value);
      }
      const timeout = AbortSignal.timeout(TIMEOUT_MS);
      const signal = init.signal ? AbortSignal.any([init.signal, timeout]) : timeout;
      return bounded(await fetch(request, { redirect: "error", signal }));
    };
  }
}

function requestOptions(signal: AbortSignal) {
  return { signal, serviceParameters: ServiceParameters.create(withA2AExtensions(KAGENT_HITL_EXTENSION)) };
}

function originsOf(card: URL | AgentCard): ReadonlySet<string> {
  const urls = card instanceof URL ? [card.href] : card.supportedInterfaces.map(({ url }) => url);
  return new Set(urls.map((url) => new URL(url).origin));
}

async function bounded(response: Response): Promise<Response> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  const body: AsyncIterable<Uint8Array> | null = response.body;
  for await (const chunk of body ?? []) {
    size += chunk.byteLength;
    if (size > MAX_BYTES) throw new Error(`The agent's answer is longer than ${MAX_BYTES} bytes.`);
    chunks.push(chunk);
  }
  const { status, statusText, headers } = response;
  return new Response(status === 204 ? null : Buffer.concat(chunks), { status, statusText, headers });
}

/** Did the peer itself refuse, so that a retry is useless? */
export function isRefusal(error: unknown): error is Error {
  if (CountersignError.isInstance(error)) return true;
  if (!(error instanceof A2AError)) return false;
  if (isJsonRpcError(error) && error.envelopeCode === INTERNAL_ERROR) return false;
  return !PASSING.has(error.metadata?.["code"] ?? "");
}
