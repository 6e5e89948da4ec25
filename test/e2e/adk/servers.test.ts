import { join } from "node:path";
import { expect, test } from "vitest";
import { AdkClient, answer, asked, told } from "../../support/http/adk-client.ts";
import type { Child } from "../../support/processes/child.ts";
import { useResources } from "../../support/resources.ts";
import type { ServerLine } from "./server.program.ts";

const resources = useResources();
const PROGRAM = new URL("./server.program.ts", import.meta.url);
const PAID = "Tool reimburse answered: status=ok, purpose=hotel, amount=1500";

interface Served {
  readonly child: Child<ServerLine>;
  readonly client: AdkClient;
}

/** A server on this database, in a process of its own. */
async function start(folder: string, mode = ""): Promise<Served> {
  const child = resources.child<ServerLine>(PROGRAM, { args: [join(folder, "ledger.db"), mode] });
  const { url = "" } = await child.line("listening");
  return { child, client: new AdkClient({ url }, { app: "hitl_demo" }) };
}

test("what pauses on one server is answered on another, and both tell of it", async () => {
  const folder = await resources.folder();
  const [here, there] = await Promise.all([start(folder), start(folder)]);
  await here.client.createSession("s1");
  const [id = ""] = asked((await here.client.run("s1", "reimburse 1500 for hotel")).events);
  expect(told(await there.client.events("s1"))).toContain("adk_request_confirmation?");
  const { status, events } = await there.client.run("s1", answer(id, { confirmed: true }));
  expect([status, told(events)]).toEqual([200, ["reimburse!", PAID]]);
  expect(await here.client.events("s1")).toEqual(await there.client.events("s1"));
  const again = await here.client.run("s1", answer(id, { confirmed: true }));
  expect(again.events).toEqual(events);
  expect(await here.client.run("s1", answer(id, { confirmed: false }))).toMatchObject({
    status: 409,
    code: "already-decided",
  });
});

test("a pause outlives its server", async () => {
  const folder = await resources.folder();
  const first = await start(folder);
  await first.client.createSession("s1", { state: { plan: "gold" } });
  const [id = ""] = asked((await first.client.run("s1", "reimburse 1500 for hotel")).events);
  const before = await first.client.json("GET", `${first.client.sessions}/s1`);
  await first.child.kill();
  const { client } = await start(folder);
  expect(await client.json("GET", `${client.sessions}/s1`)).toEqual(before);
  expect(told((await client.run("s1", answer(id, { confirmed: true }))).events)).toEqual([
    "reimburse!",
    PAID,
  ]);
});

test.each(["/run", "/run_sse"])(
  "a message that was taken by a server that died is not taken again by %s",
  async (path) => {
    const folder = await resources.folder();
    const first = await start(folder, "stall");
    await first.client.createSession("s1");
    const body = first.client.body("s1", "hello");
    const headers = { "idempotency-key": "k1" };
    const cutOff = first.client
      .request("POST", path, body, headers)
      .then(async (response) => response.text())
      .catch(() => "cut off");
    // Not answered, but stored: the model has been asked.
    await first.child.line("asked");
    await first.child.kill();
    expect(await cutOff).toBe("cut off");
    const second = await start(folder);
    const answered = await (await second.client.request("POST", path, body, headers)).text();
    expect(answered).toContain("You said: hello");
    const events = await second.client.events("s1");
    expect(told(events)).toEqual(["hello", "You said: hello"]);
    const replayed = await (await second.client.request("POST", path, body, headers)).text();
    expect(replayed).toBe(answered);
    expect(await second.client.events("s1")).toEqual(events);
  },
);
