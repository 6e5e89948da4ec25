import { describe, expect, test } from "vitest";
import { createApp } from "../../src/http/index.ts";
import { Agent, createLedger, type JsonObject, Runner, tool } from "../../src/index.ts";
import { scripted } from "../../src/models/scripted/index.ts";
import { AdkClient, answer, asked } from "../support/http/adk-client.ts";
import { useResources } from "../support/resources.ts";

const resources = useResources();
const yes = { confirmed: true };
const no = { confirmed: false };

interface Scene {
  readonly client: AdkClient;
  readonly ran: string[];
  readonly runner: Runner;
  /** Of the question that is open. */
  readonly id: string;
}

/** A call that waits for a person, behind a server's routes. */
async function openScene(): Promise<Scene> {
  const ran: string[] = [];
  const pay = tool({
    name: "pay",
    description: "Pays.",
    parameters: { type: "object", properties: {} },
    requireConfirmation: true,
    execute: () => void ran.push("paid"),
  });
  const model = scripted(({ contents }) =>
    contents.at(-1)?.parts.at(-1)?.functionResponse === undefined
      ? [{ functionCall: { id: "call-1", name: "pay", args: {} } }]
      : "Done.",
  );
  const agent = new Agent({ name: "desk", model, tools: [pay] });
  const runner = new Runner({ agent, ledger: await createLedger("memory:") });
  resources.add(() => runner.close());
  const app = createApp({ apps: { desk: runner }, publicUrl: "http://127.0.0.1:8000" });
  const send = async (request: Request): Promise<Response> => app.fetch(request);
  const client = new AdkClient({ send }, { app: "desk" });
  await client.createSession("s1");
  const [id = ""] = asked((await client.run("s1", "pay")).events);
  return { client, ran, runner, id };
}

async function expectOpen({ runner, ran, id }: Scene): Promise<void> {
  expect((await runner.pending()).map((open) => open.id)).toEqual([id]);
  expect(ran).toEqual([]);
}

type Said = readonly ["call" | "own", JsonObject];

describe("a message that says yes and no to one question, by its own id and by the call's", () => {
  test.each<[string, ...Said[]]>([
    ["yes by the call's id first", ["call", yes], ["own", no]],
    ["yes by its own id first", ["own", yes], ["call", no]],
    ["no by the call's id first", ["call", no], ["own", yes]],
    ["yes with two payloads", ["call", { ...yes, payload: 1 }], ["own", { ...yes, payload: 2 }]],
  ])("%s: decides nothing", async (_, ...said) => {
    const scene = await openScene();
    const parts = said.flatMap(([by, verdict]) => answer(by === "own" ? scene.id : "call-1", verdict).parts);
    for (const headers of [{}, { "idempotency-key": "k1" }]) {
      const refused = await scene.client.run("s1", { role: "user", parts }, { headers });
      expect(refused.code).toBe("malformed-decision");
      await expectOpen(scene);
    }
    await scene.client.run("s1", answer(scene.id, yes));
    expect(scene.ran).toEqual(["paid"]);
  });

  test("the same verdict by both ids counts once", async () => {
    const scene = await openScene();
    const parts = [...answer("call-1", yes).parts, ...answer(scene.id, yes).parts];
    expect((await scene.client.run("s1", { role: "user", parts })).code).toBeUndefined();
    expect(scene.ran).toEqual(["paid"]);
  });
});

test("a list of decisions that names one question twice is refused, and decides nothing", async () => {
  const scene = await openScene();
  const { id, client } = scene;
  for (const confirmed of [
    [true, false],
    [false, true],
  ]) {
    const decisions = confirmed.map((verdict) => ({ id, confirmed: verdict }));
    const answered = await client.request("POST", "/v1/decisions", { decisions });
    expect([answered.status, await answered.json()]).toMatchObject([422, { code: "malformed-request" }]);
    await expectOpen(scene);
  }
});
