import type { Event, JsonObject } from "../protocol/index.ts";
import { CountersignProblem } from "./problem.ts";
import { readSse } from "./sse.ts";
import type { Transport } from "./transport.ts";
import type { CallOptions, RunRequest, Session, SessionOwner, WriteOptions } from "./types.ts";

/** Sessions of agents that the server runs. */
export interface SessionsClient {
  create(
    owner: SessionOwner & { readonly id?: string; readonly state?: JsonObject },
    options?: CallOptions,
  ): Promise<Session>;
  /** Without events. Those that changed last have a title. */
  list(owner: SessionOwner, options?: CallOptions): Promise<readonly Session[]>;
  get(owner: SessionOwner & { readonly id: string }, options?: CallOptions): Promise<Session>;
  delete(owner: SessionOwner & { readonly id: string }, options?: CallOptions): Promise<void>;
  /** What agents say in it, as they write it, until its run ends; also after a decision. */
  follow(owner: SessionOwner & { readonly id: string }, options?: CallOptions): AsyncGenerator<Event>;
}

export function sessionsClient(transport: Transport): SessionsClient {
  return {
    create: ({ id, state, ...owner }, { signal } = {}) =>
      transport.json({
        method: "POST",
        path: id === undefined ? pathOf(owner) : `${pathOf(owner)}/${encodeURIComponent(id)}`,
        body: state === undefined ? {} : { state },
        signal,
      }),
    list: (owner, { signal } = {}) => transport.json({ path: `${pathOf(owner)}?titles=true`, signal }),
    get: ({ id, ...owner }, { signal } = {}) =>
      transport.json({ path: `${pathOf(owner)}/${encodeURIComponent(id)}`, signal }),
    delete: async ({ id, ...owner }, { signal } = {}) => {
      await transport.send({
        method: "DELETE",
        path: `${pathOf(owner)}/${encodeURIComponent(id)}`,
        signal,
      });
    },
    async *follow({ id, ...owner }, { signal } = {}) {
      const response = await transport.send({
        path: `${pathOf(owner)}/${encodeURIComponent(id)}/stream`,
        headers: { accept: "text/event-stream" },
        signal,
      });
      yield* eventsIn(response, signal);
    },
  };
}

/** Sends a message to an agent and yields its events. Leaving the loop only stops watching; the run continues. */
export async function* runSse(
  transport: Transport,
  { app, user, session, message, streaming = false, stateDelta }: RunRequest,
  { signal, idempotencyKey }: WriteOptions = {},
): AsyncGenerator<Event> {
  const response = await transport.send({
    method: "POST",
    path: "/run_sse",
    headers: { accept: "text/event-stream" },
    body: {
      appName: app,
      userId: user,
      sessionId: session,
      newMessage: typeof message === "string" ? { role: "user", parts: [{ text: message }] } : message,
      streaming,
      ...(stateDelta === undefined ? {} : { stateDelta }),
    },
    idempotencyKey,
    signal,
  });
  yield* eventsIn(response, signal);
}

async function* eventsIn(response: Response, signal: AbortSignal | undefined): AsyncGenerator<Event> {
  if (response.body === null) return;
  for await (const { data } of readSse(response.body, signal)) {
    if (data === undefined) continue;
    const told = JSON.parse(data) as Event & { readonly error?: string };
    // The ADK's routes report a failure inside the stream.
    if (typeof told.error === "string") throw new CountersignProblem(response.status, told);
    yield told;
  }
}

function pathOf({ app, user }: SessionOwner): string {
  return `/apps/${encodeURIComponent(app)}/users/${encodeURIComponent(user)}/sessions`;
}
