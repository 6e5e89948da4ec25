import { setImmediate } from "node:timers/promises";
import { expect, test, vi } from "vitest";
import { createA2aApp } from "../../src/a2a/index.ts";
import type { Ledger } from "../../src/engine/index.ts";
import { createApp } from "../../src/http/index.ts";
import { Agent, type JsonObject, Runner } from "../../src/index.ts";
import { scripted } from "../../src/models/scripted/index.ts";
import { AdkClient } from "../support/http/adk-client.ts";
import { useResources } from "../support/resources.ts";

const resources = useResources();
const LONG = "x".repeat(450_000);

function start(): { readonly runner: Runner; readonly client: AdkClient } {
  const model = scripted(({ contents }) => contents.at(-1)?.parts[0]?.text ?? "");
  const runner = new Runner({ agent: new Agent({ name: "desk", model }), ledger: "memory:" });
  resources.add(() => runner.close());
  const apps = { desk: runner };
  const app = createApp({ apps, mounts: [createA2aApp({ apps })] });
  const send = async (request: Request): Promise<Response> => app.fetch(request);
  return { runner, client: new AdkClient({ send }, { app: "desk" }) };
}

/** Megabytes of JSON take their time on a busy machine. */
const PATIENT = { timeout: 240_000 };

test(
  "the ADK's list of sessions has all of them, and the states of the newest as far as 4 MB go",
  PATIENT,
  async () => {
    const { client } = start();
    const ids = Array.from({ length: 12 }, (_, index) => `s${index}`);
    for (const id of ids) await client.createSession(id, { state: { long: LONG } });
    const text = await (await client.request("GET", client.sessions)).text();
    expect(text.length).toBeLessThan(4_100_000);
    const listed = JSON.parse(text) as readonly { readonly id: string; readonly state: JsonObject }[];
    expect(listed.map(({ id }) => id)).toEqual(ids);
    expect(listed.map(({ state }) => Object.keys(state).length)).toEqual([
      0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1,
    ]);
    expect((await client.json("GET", `${client.sessions}/s0`))["state"]).toEqual({ long: LONG });
  },
);

interface TaskPage {
  readonly tasks: readonly { readonly id: string }[];
  readonly nextPageToken?: string;
  readonly totalSize: number;
}

test(
  "a page of A2A's tasks ends where it would be too large, and no session is read in one piece",
  PATIENT,
  async () => {
    const { runner, client } = start();
    const call = async (method: string, params: JsonObject): Promise<JsonObject> => {
      const request = { jsonrpc: "2.0", id: 1, method, params };
      const answer = await client.request("POST", "/a2a/desk", request, { "a2a-version": "1.0" });
      return ((await answer.json()) as { readonly result: JsonObject }).result;
    };
    for (let sent = 0; sent < 3; sent++) {
      const message = {
        messageId: `m${sent}`,
        contextId: `c${sent % 2}`,
        role: "ROLE_USER",
        parts: [{ text: LONG }],
      };
      await call("SendMessage", { message });
    }
    const { ledger } = await runner.engine();
    const events = vi.spyOn(ledger, "events");
    const seen: string[] = [];
    let pageToken = "";
    do {
      const params = { includeArtifacts: true, ...(pageToken === "" ? {} : { pageToken }) };
      const page = (await call("ListTasks", params)) as unknown as TaskPage;
      expect(JSON.stringify(page).length).toBeLessThan(1_100_000);
      expect(page.totalSize).toBe(3);
      seen.push(...page.tasks.map(({ id }) => id));
      pageToken = page.nextPageToken ?? "";
    } while (pageToken !== "");
    expect(new Set(seen).size).toBe(3);
    expect(seen).toHaveLength(3);
    const filtered = await call("ListTasks", { pageSize: 1, status: "TASK_STATE_COMPLETED" });
    expect(filtered).toMatchObject({ totalSize: 3, tasks: [{ status: { state: "TASK_STATE_COMPLETED" } }] });
    expect(events.mock.calls.length).toBeGreaterThan(0);
    for (const [, range] of events.mock.calls) expect(range?.bytes).toBeLessThanOrEqual(1_000_000);
  },
);

/** How many reads of whole conversations there are at the same time, at most. */
function watchReads(ledger: Ledger): { readonly most: () => number } {
  const read = ledger.events.bind(ledger);
  let [running, most] = [0, 0];
  vi.spyOn(ledger, "events").mockImplementation(async (...asked) => {
    running += 1;
    most = Math.max(most, running);
    await setImmediate();
    return read(...asked).finally(() => (running -= 1));
  });
  return { most: () => most };
}

test("conversations over AG-UI and tasks over A2A are read a few at a time for one caller", async () => {
  const { runner, client } = start();
  const post = (path: string, body: JsonObject): Promise<Response> =>
    client.request("POST", path, body, { "a2a-version": "1.0" });
  const message = { messageId: "m1", contextId: "c1", role: "ROLE_USER", parts: [{ text: "hello" }] };
  const rpc = { jsonrpc: "2.0", id: 1 };
  const sent = await (await post("/a2a/desk", { ...rpc, method: "SendMessage", params: { message } })).json();
  const { result } = sent as { readonly result: { readonly task: { readonly id: string } } };
  const nothing = { messages: [], state: {}, tools: [], context: [], forwardedProps: {} };
  const reads: readonly ((place: number) => Promise<Response>)[] = [
    (place) => post("/agui/desk", { threadId: "c1", runId: `r${place}`, ...nothing }),
    // A message that is sent again says nothing new.
    (place) => post("/agui/desk", { threadId: "c1", runId: `s${place}`, ...nothing, messages: [known] }),
    () => post("/a2a/desk", { ...rpc, method: "GetTask", params: { id: result.task.id } }),
    () => post("/a2a/desk", { ...rpc, method: "ListTasks", params: {} }),
  ];
  const { ledger } = await runner.engine();
  const { session } = (await ledger.load({ session: { app: "desk", user: "local", id: "c1" } })) ?? {};
  const [first] = await ledger.events(session?.key ?? "");
  const known = { id: first?.id ?? "", role: "user", content: "hello" };
  const watched = watchReads(ledger);
  for (const read of reads) {
    const answers = await Promise.all(Array.from({ length: 20 }, (_, place) => read(place)));
    for (const answer of await Promise.all(answers.map((each) => each.text())))
      expect(answer).toContain("c1");
  }
  expect(watched.most()).toBeGreaterThan(1);
  expect(watched.most()).toBeLessThanOrEqual(4);
});
