import { afterEach, expect, test } from "vitest";
import { Agent, Runner, tool } from "../../index.ts";
import { scripted } from "../../models/scripted/index.ts";
import { createApp } from "../app.ts";
import type { AppOptions } from "../app-options.ts";

const releases: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const release of releases.splice(0)) await release();
});

function serve() {
  const model = scripted(({ contents }) =>
    contents.length > 1 ? "The payment is done." : [{ functionCall: { name: "pay", args: {} } }],
  );
  const pay = tool({ name: "pay", description: "Pays.", requireConfirmation: true, execute: () => "paid" });
  const runner = new Runner({ agent: new Agent({ name: "shop", model, tools: [pay] }), ledger: "memory:" });
  releases.push(() => runner.close());
  const appFor = (id: string) =>
    createApp({ apps: { shop: runner }, authenticate: () => ({ id, scopes: ["read"] }) });
  const follow = (id: string, session: string): Promise<Response> =>
    appFor(id).fetch(new Request(`http://localhost/apps/shop/users/ana/sessions/${session}/stream`));
  return { runner, follow };
}

const PATH = "http://localhost/apps/shop/users/ana/sessions/s1/stream";

/** A session that waits for a person, and an app with these settings of streams. */
async function serveWaiting(options: Pick<AppOptions, "feed" | "authenticate">) {
  const { runner } = serve();
  const { pending } = await runner.send("pay", { user: "ana", session: "s1" });
  const app = createApp({ apps: { shop: runner }, ...options });
  const open = (method = "GET"): Promise<Response> => app.fetch(new Request(PATH, { method }));
  return { runner, open, id: pending[0]?.id ?? "" };
}

const ana = { id: "ana", scopes: ["read"] } as const;

interface Told {
  readonly partial?: boolean;
  readonly content?: { readonly parts: readonly { readonly text?: string }[] };
}

test("text after a decision comes in pieces, to somebody who followed before it, and the stream ends with the run", async () => {
  const { runner, follow } = serve();
  const turn = await runner.send("pay", { user: "ana", session: "s1" });
  const answer = await follow("ana", "s1");
  const reading = answer.text();
  await runner.approve(turn.pending[0]?.id ?? "", { by: { id: "ana" } });
  const events = (await reading)
    .split("\n\n")
    .filter((chunk) => chunk !== "")
    .map((chunk) => JSON.parse(chunk.replace(/^data: /, "")) as Told);
  const texts = events.flatMap(({ partial, content }) =>
    (content?.parts ?? []).flatMap(({ text }) => (text === undefined ? [] : [[partial === true, text]])),
  );
  expect(texts.at(-1)).toEqual([false, "The payment is done."]);
  const pieces = texts.filter(([isPiece]) => isPiece === true).map(([, text]) => text);
  expect(pieces.join("")).toBe("The payment is done.");
  expect(pieces.length).toBeGreaterThan(1);
});

test("a session whose run is over has nothing to follow, and those of others cannot be followed", async () => {
  const { runner, follow } = serve();
  const turn = await runner.send("pay", { user: "ana", session: "s1" });
  expect((await follow("max", "s1")).status).toBe(403);
  expect((await follow("ana", "s2")).status).toBe(404);
  await (await runner.deny(turn.pending[0]?.id ?? "", { by: { id: "ana" } })).finished;
  expect(await (await follow("ana", "s1")).text()).toBe("");
});

test.each([
  ["has logged out", undefined],
  ["has lost rights", { id: "ana", scopes: [] }],
])("the stream ends when its reader %s", async (_name, later) => {
  let reader: { readonly id: string; readonly scopes: readonly "read"[] } | undefined = ana;
  const feed = { heartbeatMs: 5, recheckMs: 0 };
  const { open } = await serveWaiting({ authenticate: () => reader, feed });
  const { body } = await open();
  const reading = new Response(body).text();
  reader = later as typeof reader;
  expect(await reading).toBe("");
});

test("the stream ends after its time", async () => {
  const { open } = await serveWaiting({ authenticate: () => ana, feed: { heartbeatMs: 5, mostAgeMs: 0 } });
  expect(await (await open()).text()).toBe("");
});

test("one person has only so many streams open, and a HEAD request opens none", async () => {
  const { open } = await serveWaiting({ authenticate: () => ana, feed: { mostStreams: 2 } });
  for (let n = 0; n < 3; n += 1) expect((await open("HEAD")).status).toBe(200);
  const [first, second] = [await open(), await open()];
  expect((await open()).status).toBe(429);
  await first.body?.cancel();
  const again = await open();
  expect(again.status).toBe(200);
  await Promise.all([second.body?.cancel(), again.body?.cancel()]);
});

test("a reader that does not keep up is disconnected", async () => {
  const feed = { mostQueuedBytes: 1, mostStreams: 1 };
  const { open, runner, id } = await serveWaiting({ authenticate: () => ana, feed });
  const { body } = await open();
  await runner.approve(id, { by: { id: "ana" } });
  // Its place is free again once it is over.
  await expect.poll(async () => (await open()).status).toBe(200);
  await expect(new Response(body).text()).rejects.toThrow(/too slow/);
});
