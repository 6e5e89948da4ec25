import { afterEach, expect, test } from "vitest";
import { Agent, Runner, tool } from "../../index.ts";
import { scripted } from "../../models/scripted/index.ts";
import { createApp } from "../app.ts";

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
