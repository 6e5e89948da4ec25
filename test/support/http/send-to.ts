import { request } from "node:http";

/** A request, with the host that it names in its headers: `fetch` would set that itself. */
export interface SentToHost {
  readonly method?: string;
  readonly path: string;
  readonly body?: unknown;
  readonly headers: Readonly<Record<string, string>> & { readonly host: string };
}

export interface HostAnswer {
  readonly status: number;
  readonly text: string;
}

/** Sends to this machine, whatever the host. Of a stream of events the first bytes are enough. */
export function sendTo(
  port: number,
  { path, body, method = body === undefined ? "GET" : "POST", headers }: SentToHost,
): Promise<HostAnswer> {
  const text = body === undefined || typeof body === "string" ? body : JSON.stringify(body);
  const json = text === undefined ? {} : { "content-type": "application/json" };
  return new Promise((resolve, reject) => {
    const sent = request({ port, host: "127.0.0.1", method, path, headers: { ...json, ...headers } });
    sent.once("error", reject);
    sent.once("response", (answer) => {
      const parts: string[] = [];
      answer.setEncoding("utf8").on("data", (part: string) => {
        parts.push(part);
        if (answer.headers["content-type"]?.startsWith("text/event-stream") === true) answer.destroy();
      });
      answer.once("close", () => resolve({ status: answer.statusCode ?? 0, text: parts.join("") }));
    });
    sent.end(text);
  });
}

/** Where a command that serves with `--json` says that it listens. */
export function portIn(printed: string): number {
  return Number(/"url":"http:\/\/127\.0\.0\.1:(\d+)"/.exec(printed)?.[1]);
}
