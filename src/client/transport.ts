import { problemOf } from "./problem.ts";

/** Options of {@link createClient}. */
export interface ClientOptions {
  /** The server's URL, as in `http://127.0.0.1:8000`; in a browser, "" is the page's own origin. */
  readonly baseUrl: string;
  /** A bearer token, or a function that returns it for each request. */
  readonly token?: string | (() => string | undefined | Promise<string | undefined>);
  /**
   * For a page with a login cookie: the `proof` that the login returned, or a function that returns it. The cookie is
   * not valid without it.
   */
  readonly proof?: string | (() => string | undefined);
  readonly fetch?: (request: Request) => Promise<Response>;
  readonly headers?: Readonly<Record<string, string>>;
}

/** One request to the server. */
export interface Call {
  readonly method?: "GET" | "POST" | "PUT" | "DELETE";
  readonly path: string;
  readonly query?: Readonly<Record<string, string | number | boolean | readonly string[] | undefined>>;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly idempotencyKey?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** The header that carries a page's proof. */
export const PROOF_HEADER = "countersign-proof";
const TRIES = 4;
const FIRST_PAUSE_MS = 200;

/**
 * Sends requests. Refusals are thrown as problems; after a lost connection a request is retried only if that is safe.
 */
export class Transport {
  readonly #options: ClientOptions;
  readonly #fetch: (request: Request) => Promise<Response>;

  constructor(options: ClientOptions) {
    this.#options = options;
    // Called as a bare function, which is what browsers want of their own.
    this.#fetch = options.fetch ?? ((request) => fetch(request));
  }

  /** The answer as JSON; nothing where it has no body. */
  async json<T>(call: Call): Promise<T> {
    const response = await this.send(call);
    const text = await response.text();
    return (text === "" ? undefined : JSON.parse(text)) as T;
  }

  /** The answer, if it is not a refusal. */
  async send(call: Call): Promise<Response> {
    const response = await this.#persist(call);
    if (response.ok) return response;
    throw await problemOf(response);
  }

  async #persist(call: Call): Promise<Response> {
    // A request with a key can be repeated, and so can a read.
    const tries = call.idempotencyKey !== undefined ? TRIES : 1;
    for (let tried = 1; ; tried += 1) {
      try {
        return await this.#fetch(await this.#request(call));
      } catch (error) {
        if (tried >= tries || call.signal?.aborted === true) throw error;
        await pause(FIRST_PAUSE_MS * 2 ** (tried - 1), call.signal);
      }
    }
  }

  async #request(call: Call): Promise<Request> {
    const { token, proof, headers = {}, baseUrl } = this.#options;
    const bearer = typeof token === "function" ? await token() : token;
    const proven = typeof proof === "function" ? proof() : proof;
    const { method = "GET", body, idempotencyKey, signal } = call;
    return new Request(addressOf(baseUrl, call), {
      method,
      headers: {
        accept: "application/json",
        ...headers,
        ...(bearer === undefined ? {} : { authorization: `Bearer ${bearer}` }),
        ...(proven === undefined ? {} : { [PROOF_HEADER]: proven }),
        ...(body === undefined ? {} : { "content-type": "application/json" }),
        ...(idempotencyKey === undefined ? {} : { "idempotency-key": idempotencyKey }),
        ...call.headers,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      ...(signal === undefined ? {} : { signal }),
    });
  }
}

/** Resolves after a while, or at once when the signal aborts. */
export function pause(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const over = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", over);
      resolve();
    };
    const timer = setTimeout(over, ms);
    if (signal?.aborted === true) over();
    else signal?.addEventListener("abort", over);
  });
}

function addressOf(baseUrl: string, { path, query = {} }: Call): string {
  const asked = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value === undefined) continue;
    for (const one of Array.isArray(value) ? value : [value]) asked.append(name, String(one));
  }
  const search = asked.size === 0 ? "" : `?${asked.toString()}`;
  return `${baseUrl.replace(/\/+$/, "")}${path}${search}`;
}
