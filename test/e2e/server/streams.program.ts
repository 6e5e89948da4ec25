import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { createApp } from "../../../src/http/index.ts";
import { serve } from "../../../src/http/node/index.ts";
import { listen, programOptions, say } from "../../support/processes/program.ts";
import { createShop } from "../embedding/shop.ts";

/** Serves a feed to whoever asks, and says how much memory that takes. */
export type StreamsLine =
  | { readonly type: "ready"; readonly port: number }
  | { readonly type: "memory"; readonly bytes: number }
  | { readonly type: "gone"; readonly count: number };

export type StreamsMessage =
  | { readonly type: "publish"; readonly text: string }
  | { readonly type: "measure" };

/** `approvals`: the real one, where publishing raises a confirmation. `bare`: whatever is published, to all. */
export interface StreamsOptions {
  readonly feed: "approvals" | "bare";
}

const ENCODER = new TextEncoder();
setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc") as () => void;

const { feed } = programOptions() as StreamsOptions;
const source = feed === "bare" ? bareFeed() : approvalsFeed();
const server = await serve({ app: source.app, port: 0, limits: { stalledMs: 5_000 } });
tell({ type: "ready", port: server.port });

listen((message) => {
  const asked = message as StreamsMessage;
  if (asked.type === "publish") return source.publish(asked.text);
  collectGarbage();
  const { heapUsed, external } = process.memoryUsage();
  tell({ type: "memory", bytes: heapUsed + external });
});

function bareFeed() {
  const streams = new Set<ReadableStreamDefaultController<Uint8Array>>();
  const fetch = async (): Promise<Response> => {
    let controller: ReadableStreamDefaultController<Uint8Array> | undefined;
    const body = new ReadableStream<Uint8Array>({
      start(given) {
        controller = given;
        streams.add(given);
      },
      cancel() {
        if (controller !== undefined) streams.delete(controller);
        tell({ type: "gone", count: streams.size });
      },
    });
    return new Response(body, { headers: { "content-type": "text/event-stream" } });
  };
  const publish = (text: string): void => {
    const chunk = ENCODER.encode(`data: ${text}\n\n`);
    for (const stream of streams) stream.enqueue(chunk);
  };
  return { app: { fetch }, publish };
}

function authenticate(request: Request) {
  return { id: request.headers.get("x-as") ?? "nobody", scopes: ["read", "admin"] };
}

function approvalsFeed() {
  const shop = createShop();
  const publish = (text: string): void => {
    shop.send(text, { user: text }).catch((error: unknown) => {
      throw error;
    });
  };
  return { app: createApp({ apps: { shop }, authenticate }), publish };
}

function tell(line: StreamsLine): void {
  say(line);
}
