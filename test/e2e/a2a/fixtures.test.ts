import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../../src/index.ts";
import { KAGENT_HITL_EXTENSION } from "../../../src/protocol/index.ts";
import { useResources } from "../../support/resources.ts";
import {
  approvalOf,
  askedIn,
  payloadOf,
  startA2aServer,
  stateOf,
  taskIn,
  Wire,
  type WireTask,
} from "./a2a-server.ts";

const resources = useResources();

interface Fixture {
  readonly request: JsonObject;
  readonly response: JsonObject;
  readonly responses: readonly { readonly why: string; readonly payload: JsonObject }[];
  readonly request_part: JsonObject;
  readonly answer_parts: readonly {
    readonly data: JsonObject;
    readonly decisions: readonly { callId: string; confirmed: boolean; reason?: string }[];
  }[];
}

function fixture(name: string): Fixture {
  return JSON.parse(
    readFileSync(new URL(`../../fixtures/kagent/${name}`, import.meta.url), "utf8"),
  ) as Fixture;
}

const ONE = { id: "call-1", name: "delete_file", args: { path: "reports/old.csv" } };
const TWO = [
  { id: "call-1", name: "delete_file", args: { path: "a" } },
  { id: "call-2", name: "write_file", args: { path: "b", content: "x" } },
] as const;

/** A message with the fixture's own ids where ours were made for this run. */
function named(task: WireTask, ids: readonly string[]): unknown {
  let text = JSON.stringify(task.status.message);
  for (const [index, id] of askedIn(task).entries()) text = text.replaceAll(id, ids[index] ?? "");
  text = text.replaceAll(task.id, "task-1").replaceAll(task.contextId, "ctx-1");
  const { kind: _kind, ...message } = JSON.parse(text) as JsonObject;
  return { ...message, messageId: "m-1" };
}

/** The fixture as this version writes it; the fixtures are written in 0.3. */
function asWritten(wire: Wire, message: JsonObject): unknown {
  if (wire.isOld) return message;
  const parts = (message["parts"] as readonly JsonObject[]).map(({ kind: _kind, ...part }) => part);
  return { ...message, role: "ROLE_AGENT", parts };
}

/** The fixture's answer, with the ids that were really asked. */
function answerTo(task: WireTask, response: JsonObject, ids: readonly string[]): JsonObject {
  let text = JSON.stringify((response["metadata"] as JsonObject)[KAGENT_HITL_EXTENSION]);
  for (const [index, id] of askedIn(task).entries()) text = text.replaceAll(`"${ids[index]}"`, `"${id}"`);
  return JSON.parse(text) as JsonObject;
}

describe.each(["1.0", "0.3"] as const)("wire %s", (version) => {
  test("01: one gated call is asked for as in the fixture, and its approval completes the task", async () => {
    const server = await startA2aServer(resources);
    const wire = new Wire(server, { version, hitl: true });
    const { request, response } = fixture("01-one-tool.json");
    const task = await wire.order(ONE);
    expect(stateOf(task)).toBe("input-required");
    expect(named(task, ["adk-c1"])).toEqual(asWritten(wire, request));
    const done = taskIn(await wire.answer(task, answerTo(task, response, ["adk-c1"])));
    expect([done.id, stateOf(done)]).toEqual([task.id, "completed"]);
    expect(server.ran).toEqual([{ name: "delete_file", args: ONE.args }]);
  });

  test("02: one rejected with a reason and one approved, in one answer", async () => {
    const server = await startA2aServer(resources);
    const wire = new Wire(server, { version, hitl: true });
    const { request, response } = fixture("02-two-tools-mixed.json");
    const task = await wire.order(...TWO);
    expect(named(task, ["adk-c1", "adk-c2"])).toEqual(asWritten(wire, request));
    const done = taskIn(await wire.answer(task, answerTo(task, response, ["adk-c1", "adk-c2"])));
    expect(stateOf(done)).toBe("completed");
    expect(server.ran.map(({ name }) => name)).toEqual(["write_file"]);
    const [denied] = (await server.engine.ledger.confirmations({ state: "closed" })).items.filter(
      ({ confirmation }) => confirmation.status === "denied",
    );
    expect(denied?.confirmation.votes[0]).toMatchObject({ reason: "still in use", via: "a2a" });
  });

  test("03: every invalid response is refused, decides nothing, and the right one still works", async () => {
    const server = await startA2aServer(resources);
    const wire = new Wire(server, { version, hitl: true });
    const task = await wire.order(...TWO);
    const { responses } = fixture("03-invalid-responses.json");
    expect(responses).toHaveLength(7);
    for (const { why, payload } of responses) {
      const wrapped = { metadata: { [KAGENT_HITL_EXTENSION]: payload } };
      const { error } = await wire.answer(task, answerTo(task, wrapped, ["adk-c1", "adk-c2"]));
      expect([why, error?.code]).toEqual([why, -32602]);
      expect(stateOf(taskIn(await wire.get(task.id)))).toBe("input-required");
    }
    expect((await server.engine.ledger.confirmations({ state: "open" })).items).toHaveLength(2);
    expect(server.ran).toEqual([]);
    expect(stateOf(taskIn(await wire.answer(task, approvalOf(task))))).toBe("completed");
    expect(server.ran).toHaveLength(2);
  });

  test("04: questions are put as in the fixture, and answers are positional", async () => {
    const server = await startA2aServer(resources);
    const wire = new Wire(server, { version, hitl: true });
    const { request, response } = fixture("04-ask-user.json");
    const { questions } = (request["metadata"] as { [uri: string]: JsonObject })[KAGENT_HITL_EXTENSION] ?? {};
    const task = await wire.order({ id: "call-1", name: "ask_user", args: { questions: questions ?? [] } });
    expect(named(task, ["adk-q1"])).toEqual(asWritten(wire, request));
    const done = taskIn(await wire.answer(task, answerTo(task, response, ["adk-q1"])));
    expect(stateOf(done)).toBe("completed");
    const [asked] = (await server.engine.ledger.confirmations({ state: "closed" })).items;
    expect(asked?.confirmation.shown.question).toBe("ask_user");
    expect(asked?.call.result).toEqual({
      answers: [
        { question: "Which region?", answer: ["eu"] },
        { question: "Which add-ons?", answer: ["backup", "audit"] },
        { question: "Anything else?", answer: ["keep it cheap"] },
      ],
    });
  });

  test("05: a call of an agent within is asked for flat, by its own id", async () => {
    const server = await startA2aServer(resources);
    const wire = new Wire(server, { version, hitl: true });
    const task = await wire.order({ id: "call-1", name: "clerk", args: { request: "file it" } });
    expect(payloadOf(task)).toMatchObject({
      type: "tool_approval_request",
      tools: [{ call_id: "inner-1", name: "file_report", args: { title: "Q3" } }],
    });
    expect(payloadOf(task)).not.toHaveProperty("nested");
    expect(stateOf(taskIn(await wire.answer(task, approvalOf(task))))).toBe("completed");
    expect(server.ran.map(({ name }) => name)).toEqual(["file_report"]);
  });

  test("06: a client that did not opt in gets the data part of the fixture", async () => {
    const wire = new Wire(await startA2aServer(resources), { version });
    const task = await wire.order(TWO[0]);
    const { kind: _kind, ...part } = fixture("06-data-part-legacy.json").request_part;
    const { parts } = JSON.parse(JSON.stringify(named(task, ["adk-c1"]))) as { parts: JsonObject[] };
    expect(parts[1]).toEqual(wire.isOld ? { kind: "data", ...part } : part);
    expect(task.status.message?.extensions ?? []).toEqual([]);
    expect(task.status.message?.metadata ?? {}).toEqual({});
  });

  test.each([0, 1, 2, 3])("06: the documented answer %i decides as documented", async (index) => {
    const server = await startA2aServer(resources);
    const wire = new Wire(server, { version });
    const answer = fixture("06-data-part-legacy.json").answer_parts[index];
    const task = await wire.order(...TWO.slice(0, answer?.decisions.length));
    const done = taskIn(await wire.decide(task, answer?.data ?? {}));
    expect([done.id, stateOf(done)]).toEqual([task.id, "completed"]);
    const closed = (await server.engine.ledger.confirmations({ state: "closed" })).items.map(
      ({ confirmation, call }) => ({
        callId: call.wireId,
        confirmed: confirmation.status === "approved",
        ...(confirmation.votes[0]?.reason === undefined ? {} : { reason: confirmation.votes[0].reason }),
      }),
    );
    expect(closed.toSorted((one, other) => (one.callId < other.callId ? -1 : 1))).toEqual(answer?.decisions);
  });
});
