import { expect, test, vi } from "vitest";
import { createA2aApp } from "../../src/a2a/index.ts";
import { createApp } from "../../src/http/index.ts";
import { Agent, createLedger, type JsonObject, Runner, tool } from "../../src/index.ts";
import { scripted } from "../../src/models/scripted/index.ts";
import { useResources } from "../support/resources.ts";

const resources = useResources();

interface Scene {
  readonly runner: Runner;
  readonly ran: string[];
  /** Lets the body of `first` end. */
  readonly release: () => void;
  readonly call: (method: string, params: JsonObject, signal?: AbortSignal) => Promise<JsonObject>;
}

/** An agent that makes two gated calls, one after the other, in one task. */
async function openScene(): Promise<Scene> {
  const ran: string[] = [];
  const { promise: held, resolve: release } = Promise.withResolvers<void>();
  const gated = {
    description: "Does it.",
    parameters: { type: "object", properties: {} },
    requireConfirmation: true,
  } as const;
  const first = tool({
    ...gated,
    name: "first",
    execute: async () => {
      ran.push("first");
      await held;
    },
  });
  const second = tool({ ...gated, name: "second", execute: () => void ran.push("second") });
  const model = scripted(({ contents }) => {
    const answered = contents.at(-1)?.parts.at(-1)?.functionResponse?.name;
    if (answered === "second") return "Done.";
    return [{ functionCall: { name: answered === "first" ? "second" : "first", args: {} } }];
  });
  const agent = new Agent({ name: "desk", model, tools: [first, second] });
  const runner = new Runner({ agent, ledger: await createLedger("memory:") });
  resources.add(() => runner.close());
  const app = createApp({ apps: { desk: runner }, mounts: [createA2aApp({ apps: { desk: runner } })] });
  const call: Scene["call"] = async (method, params, signal) => {
    const request = new Request("http://127.0.0.1:8000/a2a/desk", {
      method: "POST",
      headers: { "content-type": "application/json", "a2a-version": "1.0" },
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
      ...(signal === undefined ? {} : { signal }),
    });
    return (await (await app.fetch(request)).json()) as JsonObject;
  };
  return { runner, ran, release, call };
}

function message(parts: readonly JsonObject[], task: JsonObject = {}): JsonObject {
  return { message: { messageId: crypto.randomUUID(), role: "ROLE_USER", parts, ...task } };
}

interface Task {
  readonly id: string;
  readonly contextId: string;
}

/** Begins the task; its first question is shown to the client. */
async function begin(call: Scene["call"]): Promise<Task> {
  const begun = (await call("SendMessage", message([{ text: "go" }]))) as unknown as {
    readonly result: { readonly task: Task };
  };
  return begun.result.task;
}

function answer({ id: taskId, contextId }: Task, data: JsonObject): JsonObject {
  return message([{ data }], { taskId, contextId });
}

const approve = (task: Task): JsonObject => answer(task, { decision_type: "approve" });

async function openTools(runner: Runner): Promise<string> {
  return (await runner.pending()).map((one) => one.tool).join();
}

test("a word that is sent again, because its answer did not arrive, approves nothing that came since", async () => {
  const { runner, ran, release, call } = await openScene();
  const task = await begin(call);
  const client = new AbortController();
  const lost = call("SendMessage", approve(task), client.signal).catch(() => undefined);
  await vi.waitUntil(() => ran.length > 0);
  client.abort();
  release();
  await vi.waitUntil(async () => (await openTools(runner)) === "second");
  await lost;
  expect(JSON.stringify(await call("SendMessage", approve(task)))).toContain("stale-version");
  expect(await openTools(runner)).toBe("second");
  expect(ran).toEqual(["first"]);
  // Once it was looked at, the word is for that.
  await call("GetTask", { id: task.id });
  await call("SendMessage", approve(task));
  expect(ran).toEqual(["first", "second"]);
});

test("a word from a page that shows the question before approves nothing, though a list had the next one", async () => {
  const { runner, ran, release, call } = await openScene();
  const task = await begin(call);
  release();
  const [first] = await runner.pending();
  await (await runner.approve(first?.id ?? "", { by: { id: "boss" } })).finished;
  await call("ListTasks", {});
  for (const decision_type of ["approve", "reject"])
    expect(JSON.stringify(await call("SendMessage", answer(task, { decision_type })))).toContain(
      "stale-version",
    );
  expect([await openTools(runner), ran]).toEqual(["second", ["first"]]);
});
