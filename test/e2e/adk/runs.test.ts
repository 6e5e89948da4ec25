import { expect, test } from "vitest";
import { z } from "zod";
import { rootAgent } from "../../../examples/agents/hitl_demo/agent.ts";
import { createApp } from "../../../src/http/index.ts";
import { Agent, type PrincipalInput, Runner, type RunnerOptions, tool } from "../../../src/index.ts";
import { scripted } from "../../../src/models/scripted/index.ts";
import { AdkClient, answer, asked, told } from "../../support/http/adk-client.ts";
import { serveApp } from "../../support/http/serve-app.ts";
import { useResources } from "../../support/resources.ts";

const resources = useResources();

function newRunner(options: Partial<RunnerOptions> = {}): Runner {
  const runner = new Runner({ agent: rootAgent, ledger: "memory:", ...options });
  resources.add(() => runner.close());
  return runner;
}

/** A client of an app that is not on any port. */
function connect(
  runner: Runner,
  {
    user,
    ...options
  }: {
    readonly user?: string;
    readonly publicUrl?: string;
    readonly authenticate?: () => PrincipalInput;
  } = {},
): AdkClient {
  const app = createApp({ apps: { [runner.app]: runner }, ...options });
  const send = async (request: Request): Promise<Response> => app.fetch(request);
  return new AdkClient({ send }, { app: runner.app, ...(user === undefined ? {} : { user }) });
}

async function paused(client: AdkClient, session = "s1", text = "reimburse 1500 for hotel"): Promise<string> {
  await client.createSession(session);
  const [id = ""] = asked((await client.run(session, text)).events);
  expect(id).toMatch(/^adk-/);
  return id;
}

/** Resolves when the session says this, whoever it was told to. */
async function untilTold(runner: Runner, client: AdkClient, text: string): Promise<void> {
  const { ledger } = await runner.engine();
  for (;;) {
    const { promise: changed, resolve } = Promise.withResolvers<void>();
    const forget = ledger.onChange(resolve);
    const isTold = told(await client.events("s1")).includes(text);
    if (!isTold) await changed;
    forget();
    if (isTold) return;
  }
}

test("a confirmation's id is the session's key and a random part", async () => {
  const runner = newRunner();
  const client = connect(runner);
  const ids = [await paused(client, "s1"), await paused(client, "s2")];
  expect(ids).toEqual([
    expect.stringMatching(/^adk-[0-9a-z]{52}$/),
    expect.stringMatching(/^adk-[0-9a-z]{52}$/),
  ]);
  const { ledger } = await runner.engine();
  const sessions = await Promise.all(ids.map((confirmation) => ledger.load({ confirmation })));
  expect(sessions.map((snapshot) => snapshot?.session.key)).toEqual(ids.map((id) => id.slice(4, 30)));
});

// As the ADK's documentation prints it; only the address, and the id that its server made up, are others here.
const PRINTED = `curl -X POST http://localhost:8000/run_sse \\
-H "Content-Type: application/json" \\
-d '{
"app_name": "human_tool_confirmation",
"user_id": "user",
"session_id": "7828f575-2402-489f-8079-74ea95b6a300",
"new_message": {
"parts": [
{
"function_response": {
"id": "adk-13b84a8c-c95c-4d66-b006-d72b30447e35",
"name": "adk_request_confirmation",
"response": {
"confirmed": true,
"payload": {
"approved_days": 5
}
}
}
}
],
"role": "user"
}
}'`;

test("the curl of the ADK's documentation confirms remotely", async () => {
  const runner = newRunner({ app: "human_tool_confirmation" });
  const { url, port } = await serveApp(resources, { apps: { human_tool_confirmation: runner } });
  const client = new AdkClient({ url }, { app: "human_tool_confirmation" });
  const id = await paused(client, "7828f575-2402-489f-8079-74ea95b6a300", "time off 5");
  const text = PRINTED.replace("adk-13b84a8c-c95c-4d66-b006-d72b30447e35", id).replace(":8000/", `:${port}/`);
  const [, method = "", to = "", header = "", body = ""] =
    /^curl -X (\S+) (\S+) \\\n-H "(.+)" \\\n-d '([^']+)'$/.exec(text) ?? [];
  const [name = "", value = ""] = header.split(": ");
  const response = await fetch(to.replace("localhost", "127.0.0.1"), {
    method,
    headers: { [name]: value, host: "localhost" },
    body,
  });
  expect([response.status, response.headers.get("content-type")]).toEqual([200, "text/event-stream"]);
  expect(await response.text()).toContain("Tool request_time_off answered: status=ok, approved_days=5");
});

test("a stream has one event a chunk, as it happens", async () => {
  const { url } = await serveApp(resources, { apps: { hitl_demo: newRunner() } });
  const client = new AdkClient({ url }, { app: "hitl_demo" });
  await client.createSession("s1");
  const response = await client.request("POST", "/run_sse", client.body("s1", "hello", { streaming: true }));
  const chunks: string[] = [];
  const decoder = new TextDecoder();
  for await (const chunk of response.body ?? []) chunks.push(decoder.decode(chunk as Uint8Array));
  expect(chunks.join("")).toMatch(/^(?:data: \{.*\}\n\n){3}$/);
});

test("the run continues if the client disconnects", async () => {
  const entered = Promise.withResolvers<void>();
  const finish = Promise.withResolvers<void>();
  const slow = tool({
    name: "slow",
    description: "Takes its time.",
    execute: async () => {
      entered.resolve();
      await finish.promise;
      return { done: true };
    },
  });
  const model = scripted(({ contents }) =>
    contents.at(-1)?.parts.some(({ functionResponse }) => functionResponse !== undefined)
      ? "It is done."
      : [{ functionCall: { name: "slow", args: {} } }],
  );
  const runner = newRunner({ agent: new Agent({ name: "worker", model, tools: [slow] }) });
  const { url } = await serveApp(resources, { apps: { worker: runner } });
  const client = new AdkClient({ url }, { app: "worker" });
  await client.createSession("s1");
  const leaving = new AbortController();
  const response = await fetch(`${url}/run_sse`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(client.body("s1", "go")),
    signal: leaving.signal,
  });
  await entered.promise;
  leaving.abort();
  await expect(response.text()).rejects.toThrow("abort");
  finish.resolve();
  await untilTold(runner, client, "It is done.");
});

test("a reader who comes late gets every event", async () => {
  const turns = 50;
  const model = scripted(({ contents }) => {
    const done = contents.flatMap(({ parts }) => parts).filter((part) => part.functionResponse).length;
    return done < turns ? [{ functionCall: { name: "note", args: { n: done } } }] : "Enough.";
  });
  const note = tool({ name: "note", description: "Notes.", readOnly: true, execute: () => ({ ok: true }) });
  const runner = newRunner({ agent: new Agent({ name: "noter", model, tools: [note] }) });
  const client = connect(runner);
  await client.createSession("s1");
  const response = await client.request("POST", "/run_sse", client.body("s1", "go"));
  await untilTold(runner, client, "Enough.");
  const blocks = (await response.text()).match(/^data: \{.*\}\n\n/gm);
  expect(blocks).toHaveLength(2 * turns + 1);
});

test("a run in adk-rs's wire asks and is answered in it", async () => {
  const client = connect(newRunner());
  await client.createSession("s1");
  const { events } = await client.run("s1", "reimburse 1500 for hotel", { wire: "adk-rs" });
  const [id = ""] = asked(events);
  const [request] = events
    .flatMap(({ content }) => content?.parts ?? [])
    .flatMap((part) => part.functionResponse ?? []);
  expect(request).toMatchObject({ id, name: "adk_request_confirmation", willContinue: true });
  const { events: after } = await client.run("s1", answer(id, { confirmed: true }), { wire: "adk-rs" });
  expect(told(after)).toEqual([
    "reimburse!",
    "Tool reimburse answered: status=ok, purpose=hotel, amount=1500",
  ]);
  expect(await client.run("s1", "hello", { wire: "morse" })).toMatchObject({
    status: 422,
    code: "malformed-request",
  });
});

test("an answer that names another invocation than the request's is refused and changes nothing", async () => {
  const client = connect(newRunner());
  const id = await paused(client);
  const answering = answer(id, { confirmed: true });
  const wrong = await client.run("s1", answering, { invocation_id: "e-other" });
  expect(wrong).toMatchObject({ status: 409, code: "wrong-invocation" });
  const own = (await client.events("s1")).at(-1)?.invocationId ?? "";
  const { status, events } = await client.run("s1", answering, { invocation_id: own });
  expect([status, new Set(events.map(({ invocationId }) => invocationId))]).toEqual([200, new Set([own])]);
});

test("a refused answer beside an accepted one appears among the events", async () => {
  const client = connect(newRunner());
  const id = await paused(client);
  const parts = [...answer("adk-none", { confirmed: true }).parts, ...answer(id, { confirmed: true }).parts];
  const { status, events } = await client.run("s1", { role: "user", parts });
  expect(status).toBe(200);
  expect(events[0]).toMatchObject({ errorCode: "unknown-confirmation" });
  expect(told(events)).toContain("reimburse!");
});

test("what a tool declared secret is in no event that a client gets", async () => {
  const model = scripted(({ contents }) =>
    contents.length > 1
      ? "Done."
      : [{ functionCall: { name: "login", args: { user: "ana", password: "swordfish" } } }],
  );
  const login = tool({
    name: "login",
    description: "Logs in.",
    parameters: z.object({ user: z.string(), password: z.string() }),
    secrets: ["/password"],
    requireConfirmation: true,
    execute: () => ({ ok: true }),
  });
  const client = connect(newRunner({ agent: new Agent({ name: "gatekeeper", model, tools: [login] }) }));
  await client.createSession("s1");
  const { events } = await client.run("s1", "log me in");
  const text = JSON.stringify([events, await client.events("s1")]);
  expect(text).toContain("ana");
  expect(text).not.toContain("swordfish");
});
