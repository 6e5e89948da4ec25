import { expect } from "vitest";
import type { Confirmation, JsonObject } from "../../../src/index.ts";

/** Where an app is mounted in these tests. */
export const BASE_PATH = "/approvals";

/** A live feed as it comes, message by message. */
class LiveFeed {
  readonly #reader: ReadableStreamDefaultReader<string>;
  #received = "";

  constructor(body: ReadableStream<Uint8Array>) {
    this.#reader = body.pipeThrough(new TextDecoderStream()).getReader();
  }

  async until(expected: RegExp): Promise<string> {
    while (!expected.test(this.#received)) {
      const { done, value } = await this.#reader.read();
      if (done) throw new Error(`The feed ended without ${expected}: ${this.#received.slice(0, 500)}`);
      this.#received += value;
    }
    return this.#received;
  }

  async close(): Promise<void> {
    await this.#reader.cancel();
  }
}

/** Does everything that a host's page and its people do with the app that is mounted at `server`/approvals. */
export async function expectApprovals(server: string): Promise<void> {
  const at = (path: string): string => `${server}${BASE_PATH}${path}`;
  const ana = { "x-shop-user": "ana" };
  const post = (path: string, body: JsonObject): Promise<Response> =>
    fetch(at(path), {
      method: "POST",
      headers: { ...ana, "content-type": "application/json" },
      body: JSON.stringify(body),
    });

  expect((await fetch(at("/healthz"))).status).toBe(200);
  const stranger = await fetch(at("/v1/confirmations"));
  expect([stranger.status, stranger.headers.get("content-type")]).toEqual([401, "application/problem+json"]);

  // A browser asks for encodings, and a host that compresses would gather what should come at once.
  const opened = await fetch(at("/v1/confirmations/stream"), {
    headers: { ...ana, "accept-encoding": "gzip" },
  });
  expect(opened.status).toBe(200);
  const feed = new LiveFeed(opened.body as ReadableStream<Uint8Array>);
  await feed.until(/event: ready/);

  const session = await post("/apps/shop/users/ana/sessions/s1", {});
  expect(session.status).toBe(200);
  const run = await post("/run", {
    appName: "shop",
    userId: "ana",
    sessionId: "s1",
    newMessage: { role: "user", parts: [{ text: "buy it" }] },
  });
  expect(run.status).toBe(200);
  await feed.until(/"status":"requested"/);

  const pending = (await (await fetch(at("/v1/confirmations"), { headers: ana })).json()) as {
    readonly items: readonly Confirmation[];
  };
  const [asked] = pending.items;
  const decided = await post(`/v1/confirmations/${asked?.id}/decision?wait=20`, { confirmed: true });
  expect(await decided.json()).toMatchObject({ status: "succeeded", result: { paid: true } });
  await feed.until(/"status":"succeeded"/);
  await feed.close();

  const document = (await (await fetch(at("/openapi.json"))).json()) as {
    readonly paths: Record<string, unknown>;
    readonly servers?: readonly { readonly url: string }[];
  };
  const addresses = Object.keys(document.paths).map((path) => `${document.servers?.[0]?.url ?? ""}${path}`);
  expect(addresses).toContain(`${BASE_PATH}/v1/confirmations`);
  expect(addresses.filter((address) => !address.startsWith(`${BASE_PATH}/`))).toEqual([]);

  const page = await fetch(at(""), { redirect: "manual", headers: ana });
  expect(page.status).toBe(302);
  expect(new URL(page.headers.get("location") ?? "", at("")).href).toBe(at("/"));
}
