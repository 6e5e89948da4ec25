// Layers 6 to 10 of the document on tool approval: what its executor, converter and pages do, over our A2A server.
import { expect, test } from "vitest";
import type { JsonObject } from "../../src/index.ts";
import { startA2aServer, stateOf, taskIn, Wire, type WireTask } from "../e2e/a2a/a2a-server.ts";
import { useResources } from "../support/resources.ts";

const resources = useResources();
const DELETE = { id: "fc-1", name: "delete_file", args: { path: "reports/old.csv" } };

interface Update {
  readonly kind: string;
  readonly final?: boolean;
  readonly status?: WireTask["status"];
}

/** Sends as the page does, by a stream of 0.3, and gives what came. */
async function sendStream(wire: Wire, message: JsonObject): Promise<readonly Update[]> {
  const updates: Update[] = [];
  for await (const { result } of wire.stream("message/stream", { message: wire.message(message) })) {
    updates.push(result as unknown as Update);
  }
  return updates;
}

/** What the page takes for a request: a part that is a long-running call of this name. */
function requestsIn(task: WireTask): readonly JsonObject[] {
  const messages = [
    ...(task.history ?? []),
    ...(task.status.message === undefined ? [] : [task.status.message]),
  ];
  return messages
    .flatMap(({ parts }) => parts)
    .filter(({ metadata }) => metadata?.["type"] === "function_call" && metadata["is_long_running"] === true)
    .flatMap(({ data }) => (data === undefined ? [] : [data]))
    .filter(({ name }) => name === "adk_request_confirmation");
}

function decisionsIn({ history = [] }: WireTask): readonly JsonObject[] {
  return history.flatMap(({ parts }) =>
    parts.flatMap(({ data }) => (data !== undefined && "decision_type" in data ? [data] : [])),
  );
}

test("layers 7 and 8: the pause is input-required with a part from which the page makes its card", async () => {
  const wire = new Wire(await startA2aServer(resources), { version: "0.3" });
  const updates = await sendStream(wire, { parts: [wire.text(JSON.stringify([DELETE]))] });
  expect(updates.at(-1)).toMatchObject({
    kind: "status-update",
    final: true,
    status: { state: "input-required" },
  });
  const [task] = updates as unknown as readonly WireTask[];
  const [request] = requestsIn(taskIn(await wire.get(task?.id ?? "")));
  expect(request).toMatchObject({ args: { originalFunctionCall: DELETE } });
});

test("layers 6 and 10: a decision with the task's id resumes that task, and only asks the model for its last words", async () => {
  const server = await startA2aServer(resources);
  const wire = new Wire(server, { version: "0.3" });
  const task = await wire.order(DELETE);
  const parts = [{ kind: "data", data: { decision_type: "approve" }, metadata: {} }];
  const updates = await sendStream(wire, { taskId: task.id, contextId: task.contextId, parts });
  expect(updates.at(-1)).toMatchObject({ taskId: task.id, status: { state: "completed" }, final: true });
  expect(server.ran).toEqual([{ name: "delete_file", args: DELETE.args }]);
});

test("layer 8: a page that is loaded again finds the open card, and later how it was decided", async () => {
  const wire = new Wire(await startA2aServer(resources), { version: "0.3" });
  const { id, contextId } = await wire.order(DELETE);
  const open = taskIn(await wire.get(id));
  expect([stateOf(open), requestsIn(open).length, decisionsIn(open)]).toEqual(["input-required", 1, []]);
  await wire.decide({ ...open, contextId }, { decision_type: "approve" });
  const decided = taskIn(await wire.get(id));
  expect([stateOf(decided), requestsIn(decided).length]).toEqual(["completed", 1]);
  expect(decisionsIn(decided)).toEqual([{ decision_type: "approve" }]);
});

test("layers 8 and 9: a rejection with a reason reaches the model, and the page tells it by the response's status", async () => {
  const server = await startA2aServer(resources);
  const wire = new Wire(server, { version: "0.3" });
  const task = await wire.order(DELETE);
  const done = taskIn(await wire.decide(task, { decision_type: "deny", reason: "still in use" }));
  const responses = (done.history ?? [])
    .flatMap(({ parts }) => parts)
    .filter(({ metadata }) => metadata?.["type"] === "function_response")
    .flatMap(({ data }) => (data === undefined ? [] : [data["response"] as JsonObject]));
  expect(responses).toMatchObject([{ status: "rejected", reason: "still in use" }]);
  expect(done.artifacts?.[0]?.parts[0]?.text).toContain("still in use");
  expect(server.ran).toEqual([]);
});
