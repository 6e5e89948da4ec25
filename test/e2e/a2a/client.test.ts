import { Role, type StreamResponse, type Task, TaskState } from "@a2a-js/sdk";
import {
  type Client,
  ClientFactory,
  DefaultAgentCardResolver,
  JsonRpcTransportFactory,
  ServiceParameters,
  withA2AExtensions,
} from "@a2a-js/sdk/client";
import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../../src/index.ts";
import { KAGENT_HITL_EXTENSION } from "../../../src/protocol/index.ts";
import { useResources } from "../../support/resources.ts";
import { type A2aServer, startA2aServer } from "./a2a-server.ts";

const resources = useResources();
const OPTED_IN = { serviceParameters: ServiceParameters.create(withA2AExtensions(KAGENT_HITL_EXTENSION)) };
const DELETE = JSON.stringify([{ id: "call-1", name: "delete_file", args: { path: "a" } }]);

// A client of 0.3 says no version when it reads the card.
const asOld: typeof fetch = (input, init) => fetch(input, { ...init, headers: {} });

/** The official client, made from the card; for 0.3 from the card that clients of 0.3 read. */
async function connect({ url }: A2aServer, version: "1.0" | "0.3"): Promise<Client> {
  const legacyCompat = { enabled: version === "0.3" };
  const cardResolver = new DefaultAgentCardResolver({
    legacyCompat,
    ...(legacyCompat.enabled && { fetchImpl: asOld }),
  });
  const factory = new ClientFactory({
    transports: [new JsonRpcTransportFactory({ legacyCompat })],
    cardResolver,
  });
  if (version === "1.0") return factory.createFromUrl(`${url}/`, ".well-known/agent-card.json");
  const card = await cardResolver.resolve(`${url}/`, ".well-known/agent-card.json");
  const interfaces = card.supportedInterfaces.filter(({ protocolVersion }) =>
    protocolVersion.startsWith("0.3"),
  );
  return factory.createFromAgentCard({ ...card, supportedInterfaces: interfaces });
}

function message(text: string, more: { readonly task?: Task; readonly payload?: JsonObject } = {}) {
  const { task, payload } = more;
  return {
    tenant: "",
    configuration: undefined,
    metadata: undefined,
    message: {
      messageId: crypto.randomUUID(),
      role: Role.ROLE_USER,
      taskId: task?.id ?? "",
      contextId: task?.contextId ?? "",
      parts: [
        {
          content: { $case: "text" as const, value: text },
          metadata: undefined,
          filename: "",
          mediaType: "",
        },
      ],
      metadata: payload === undefined ? undefined : { [KAGENT_HITL_EXTENSION]: payload },
      extensions: payload === undefined ? [] : [KAGENT_HITL_EXTENSION],
      referenceTaskIds: [],
    },
  };
}

function asTask(result: unknown): Task {
  if (typeof result === "object" && result !== null && "status" in result) return result as Task;
  throw new Error("No task.");
}

function approval({ status }: Task): JsonObject {
  const request = status?.message?.metadata?.[KAGENT_HITL_EXTENSION] as { tools: readonly { id: string }[] };
  return {
    type: "tool_approval_response",
    approvals: request.tools.map(({ id }) => ({ id, approved: true })),
  };
}

function states(told: readonly StreamResponse[]): readonly (TaskState | undefined)[] {
  return told.flatMap(({ payload }) =>
    payload?.$case === "task" || payload?.$case === "statusUpdate" ? [payload.value.status?.state] : [],
  );
}

describe.each(["1.0", "0.3"] as const)("the official client, wire %s", (version) => {
  test("sends, is asked, answers, and gets the task that completes", async () => {
    const server = await startA2aServer(resources);
    const client = await connect(server, version);
    expect(client.protocolVersion).toMatch(version);
    const task = asTask(await client.sendMessage(message(DELETE), OPTED_IN));
    expect(task.status?.state).toBe(TaskState.TASK_STATE_INPUT_REQUIRED);
    const done = asTask(
      await client.sendMessage(message("Approved", { task, payload: approval(task) }), OPTED_IN),
    );
    expect([done.id, done.status?.state]).toEqual([task.id, TaskState.TASK_STATE_COMPLETED]);
    expect(server.ran).toHaveLength(1);
    const read = await client.getTask({ tenant: "", id: task.id, historyLength: 1 });
    expect(read.history).toHaveLength(1);
  });

  test("streams, follows a task that waits, and cancels another", async () => {
    const server = await startA2aServer(resources);
    const client = await connect(server, version);
    const told: StreamResponse[] = [];
    for await (const one of client.sendMessageStream(message(DELETE), OPTED_IN)) told.push(one);
    expect(states(told).at(-1)).toBe(TaskState.TASK_STATE_INPUT_REQUIRED);
    const task = told[0]?.payload?.$case === "task" ? told[0].payload.value : undefined;
    const following = client.resubscribeTask({ tenant: "", id: task?.id ?? "" }, OPTED_IN);
    const first = await following.next();
    const [open] = await server.runner.pending();
    await server.runner.approve(open?.id ?? "", { by: { id: "boss" } });
    const rest: StreamResponse[] = first.value === undefined ? [] : [first.value];
    for await (const one of following) rest.push(one);
    expect(states(rest).at(-1)).toBe(TaskState.TASK_STATE_COMPLETED);
    const other = asTask(await client.sendMessage(message(DELETE), OPTED_IN));
    const canceled = await client.cancelTask({ tenant: "", id: other.id, metadata: undefined });
    expect(canceled.status?.state).toBe(TaskState.TASK_STATE_CANCELED);
    await expect(client.getTask({ tenant: "", id: "nope" })).rejects.toThrow("no task");
  });
});
