import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export interface ServerRequest {
  readonly path: string;
  readonly headers: { readonly [name: string]: string | string[] | undefined };
  /** The JSON as it came. */
  readonly body: unknown;
}

/** How the server answers: at once, as events, or not at all. */
export type Reply =
  | {
      readonly status: number;
      readonly headers?: { readonly [name: string]: string };
      readonly body: unknown;
    }
  /** `ending`: what happens after the last event. */
  | { readonly events: readonly string[]; readonly ending: "end" | "break" | "wait" }
  | { readonly silence: true };

/** A server of this machine that speaks a provider's wire. */
export interface LocalServer extends AsyncDisposable {
  readonly url: string;
  readonly requests: readonly ServerRequest[];
  /** Resolves when the next request is there. */
  readonly arrival: () => Promise<void>;
  /** Resolves when a client hangs up before its answer is complete. */
  readonly hangUp: () => Promise<void>;
}

/** Starts a server on a free port; it is gone, with all its connections, at the end of the scope. */
export async function openServer(reply: (request: ServerRequest) => Reply): Promise<LocalServer> {
  const requests: ServerRequest[] = [];
  const arrivals: (() => void)[] = [];
  const hangUps: (() => void)[] = [];
  const server = createServer((incoming, outgoing) => {
    outgoing.on("close", () => {
      if (!outgoing.writableFinished) for (const resolve of hangUps.splice(0)) resolve();
    });
    readJson(incoming).then(
      (body) => {
        const request = { path: incoming.url ?? "", headers: incoming.headers, body };
        requests.push(request);
        for (const resolve of arrivals.splice(0)) resolve();
        send(outgoing, reply(request));
      },
      () => outgoing.destroy(),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    arrival: () => join(arrivals),
    hangUp: () => join(hangUps),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function join(waiting: (() => void)[]): Promise<void> {
  return new Promise((resolve) => waiting.push(resolve));
}

async function readJson(incoming: IncomingMessage): Promise<unknown> {
  let text = "";
  for await (const piece of incoming.setEncoding("utf8")) text += String(piece);
  return JSON.parse(text) as unknown;
}

function send(outgoing: ServerResponse, reply: Reply): void {
  if ("silence" in reply) return;
  if ("status" in reply) {
    outgoing.writeHead(reply.status, { "content-type": "application/json", ...reply.headers });
    outgoing.end(typeof reply.body === "string" ? reply.body : JSON.stringify(reply.body));
    return;
  }
  outgoing.writeHead(200, { "content-type": "text/event-stream" });
  for (const event of reply.events) outgoing.write(event);
  if (reply.ending === "end") outgoing.end();
  // What was written is on its way before the connection goes.
  if (reply.ending === "break") outgoing.write("", () => outgoing.destroy());
}
