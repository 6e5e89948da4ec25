import type { Content, Event, JsonObject } from "../../../src/protocol/index.ts";

/** Sends a request and gives the response: a server's `fetch`, or the network's. */
type Send = (request: Request) => Promise<Response>;

/** What a run came to: its events, or the error that it was refused with. */
export interface Ran {
  readonly status: number;
  readonly events: readonly Event[];
  readonly error?: string;
  readonly code?: string;
  readonly body: JsonObject;
}

/** A client of the ADK's routes, for one user of one app. */
export class AdkClient {
  readonly #send: Send;
  readonly #url: string;
  readonly #headers: { readonly [name: string]: string };
  readonly app: string;
  readonly user: string;

  constructor(
    to: { readonly url?: string; readonly send?: Send },
    {
      app,
      user = "user",
      headers = {},
    }: {
      readonly app: string;
      readonly user?: string;
      readonly headers?: { readonly [name: string]: string };
    },
  ) {
    this.#url = to.url ?? "http://127.0.0.1:8000";
    this.#send = to.send ?? fetch;
    this.#headers = headers;
    this.app = app;
    this.user = user;
  }

  get sessions(): string {
    return `/apps/${this.app}/users/${encodeURIComponent(this.user)}/sessions`;
  }

  async request(
    method: string,
    path: string,
    body?: unknown,
    headers: { readonly [name: string]: string } = {},
  ): Promise<Response> {
    return this.#send(
      new Request(this.#url + path, {
        method,
        headers: {
          ...this.#headers,
          ...(body === undefined ? {} : { "content-type": "application/json" }),
          ...headers,
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      }),
    );
  }

  async json(method: string, path: string, body?: unknown): Promise<JsonObject> {
    return (await (await this.request(method, path, body)).json()) as JsonObject;
  }

  /** Makes a session under this id. */
  async createSession(id: string, start: JsonObject = {}): Promise<JsonObject> {
    return this.json("POST", `${this.sessions}/${id}`, start);
  }

  /** The events of a session. */
  async events(session: string): Promise<readonly Event[]> {
    return (await this.json("GET", `${this.sessions}/${session}`))["events"] as unknown as readonly Event[];
  }

  /** A run by `/run`. */
  async run(session: string, message: string | Content, more: RunOptions = {}): Promise<Ran> {
    const { headers, ...members } = more;
    const response = await this.request("POST", "/run", this.body(session, message, members), headers);
    const body = (await response.json()) as JsonObject | readonly Event[];
    if (Array.isArray(body)) return { status: response.status, events: body as Event[], body: {} };
    const refusal = body as JsonObject & { readonly error?: string; readonly code?: string };
    return { status: response.status, events: [], body: refusal, ...pick(refusal) };
  }

  /** What `/run` and `/run_sse` take. */
  body(session: string, message: string | Content, more: JsonObject = {}): JsonObject {
    const newMessage = typeof message === "string" ? { role: "user", parts: [{ text: message }] } : message;
    const body = { appName: this.app, userId: this.user, sessionId: session, newMessage, ...more };
    return body as unknown as JsonObject;
  }

  /** A stream by `/run_sse`, as it arrives: one chunk an event. */
  async *stream(
    session: string,
    message: string | Content,
    more: RunOptions = {},
  ): AsyncGenerator<Event & JsonObject> {
    const { headers, ...members } = more;
    const response = await this.request("POST", "/run_sse", this.body(session, message, members), headers);
    const decoder = new TextDecoder();
    for await (const chunk of response.body ?? []) {
      const text = decoder.decode(chunk as Uint8Array, { stream: true });
      for (const block of text.split("\n\n").filter((one) => one !== "")) {
        yield JSON.parse(block.slice("data: ".length)) as Event & JsonObject;
      }
    }
  }
}

type RunOptions = JsonObject & { readonly headers?: { readonly [name: string]: string } };

function pick({
  error,
  code,
}: {
  readonly error?: string;
  readonly code?: string;
}): Pick<Ran, "error" | "code"> {
  return { ...(error === undefined ? {} : { error }), ...(code === undefined ? {} : { code }) };
}

/** The ids of the confirmations that these events ask for. */
export function asked(events: readonly Event[]): readonly string[] {
  return events.flatMap(({ longRunningToolIds = [] }) => longRunningToolIds);
}

/** A user's answer to a confirmation. */
export function answer(id: string, response: JsonObject): Content {
  return { role: "user", parts: [{ functionResponse: { id, name: "adk_request_confirmation", response } }] };
}

/** What was said and answered, a line each. */
export function told(events: readonly Event[]): readonly string[] {
  return events.flatMap(({ content, errorMessage }) => [
    ...(errorMessage === undefined ? [] : [errorMessage]),
    ...(content?.parts ?? []).map(({ text, functionCall, functionResponse }) => {
      if (functionCall !== undefined) return `${functionCall.name}?`;
      return functionResponse === undefined ? (text ?? "") : `${functionResponse.name}!`;
    }),
  ]);
}
