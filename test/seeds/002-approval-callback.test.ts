import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import {
  Agent,
  type Event,
  type JsonObject,
  LlmAgent,
  type Runner,
  type Tool,
  tool,
} from "../../src/index.ts";
import { REQUEST_CONFIRMATION_FUNCTION_NAME } from "../../src/protocol/index.ts";
import type { BeforeToolContext } from "../../src/runtime.ts";
import { useResources } from "../support/resources.ts";
import { answer, call, collect, play, resultsIn, type StrictModel, useRunners } from "./scripted-runner.ts";

// Layers 1 to 4 (manifest), 6 and 7 (A2A) and 8 to 10 (the web) of the seed are tested where those are.

const resources = useResources();
const makeRunner = useRunners();
const NEEDS_APPROVAL: ReadonlySet<string> = new Set(["delete_file", "write_file"]);
const HINT = "Tool 'delete_file' requires approval before execution.";
const said = { userId: "ana", sessionId: "s1", message: "Delete /tmp/x" } as const;
const DELETE = [call("delete_file", { path: "/tmp/x" }, "call-1")];

/** The seed's `_approval.py`, line by line; `branches` tells which of its three it took, in order. */
function makeApprovalCallback(toolsRequiringApproval: ReadonlySet<string>, branches: number[]) {
  return ({ tool: { name }, context }: { readonly tool: Tool; readonly context: BeforeToolContext }) => {
    if (!toolsRequiringApproval.has(name)) {
      branches.push(1);
      return undefined;
    }
    if (context.toolConfirmation === undefined) {
      branches.push(2);
      context.requestConfirmation({ hint: `Tool '${name}' requires approval before execution.` });
      return { status: "confirmation_requested" };
    }
    branches.push(3);
    if (context.toolConfirmation.confirmed) return undefined;
    return { status: "rejected", message: "Tool call was rejected by user." };
  };
}

/** The seed's `file-manager`: three tools, none of which knows of approval. */
function fileManager(
  model: StrictModel,
  options: { readonly ledger?: string } = {},
): { readonly runner: Runner; readonly ran: string[]; readonly branches: readonly number[] } {
  const ran: string[] = [];
  const tools = ["read_file", "write_file", "delete_file"].map((name) =>
    tool({
      name,
      description: `${name} of a path`,
      parameters: z.object({ path: z.string() }),
      execute: ({ path }, { functionCallId }) => {
        ran.push(`${name}(${path}) as ${functionCallId}`);
        return { done: `${name} ${path}` };
      },
    }),
  );
  const branches: number[] = [];
  const agent = new LlmAgent({
    name: "file_manager",
    model,
    instruction: "You help users manage files.",
    tools,
    beforeToolCallback: makeApprovalCallback(NEEDS_APPROVAL, branches),
  });
  return { runner: makeRunner({ agent, ...options }), ran, branches };
}

/** The request calls of a session's events that have no answer yet: what `_find_pending_confirmations` looks for. */
function findPendingConfirmations(events: readonly Event[]): readonly string[] {
  const parts = events.flatMap(({ content }) => content?.parts ?? []);
  const answered = new Set(parts.flatMap(({ functionResponse }) => functionResponse?.id ?? []));
  return parts
    .filter(({ functionCall }) => functionCall?.name === REQUEST_CONFIRMATION_FUNCTION_NAME)
    .flatMap(({ functionCall }) => functionCall?.id ?? [])
    .filter((id) => !answered.has(id));
}

/** The cards a page shows for a session that it loads anew, as `extractMessagesFromTasks()` makes them. */
function cardsOf(events: readonly Event[]): readonly JsonObject[] {
  const parts = events.flatMap(({ content }) => content?.parts ?? []);
  return parts.flatMap(({ functionCall }) => {
    if (functionCall?.name !== REQUEST_CONFIRMATION_FUNCTION_NAME) return [];
    const decided = parts.find(({ functionResponse }) => functionResponse?.id === functionCall.id);
    const confirmed = decided?.functionResponse?.response["confirmed"];
    const badge = decided === undefined ? "pending_approval" : confirmed === true ? "approved" : "rejected";
    return [{ original: functionCall.args["originalFunctionCall"] ?? null, badge }];
  });
}

async function eventsOf(runner: Runner, session = "s1"): Promise<readonly Event[]> {
  const stored = await runner.sessionService.getSession({ userId: "ana", sessionId: session });
  return stored?.events ?? [];
}

async function onlyPending(runner: Runner): Promise<string> {
  const [open, ...others] = await runner.pending();
  expect(others).toEqual([]);
  return String(open?.id);
}

function partsOf(events: readonly Event[]): readonly unknown[] {
  return events.flatMap(({ content }) => content?.parts ?? []);
}

describe("Overview", () => {
  test("the system pauses execution and asks the user to approve or reject the call before proceeding", async () => {
    const { runner, ran } = fileManager(play(DELETE));
    const turn = await runner.send("Delete /tmp/x", { user: "ana" });
    expect(turn).toMatchObject({ status: "paused", pending: [{ tool: "delete_file", hint: HINT }] });
    expect(ran).toEqual([]);
  });

  test("Deterministic replay: on approval the exact same function call is re-invoked (same ID, same arguments)", async () => {
    const { runner, ran } = fileManager(play(DELETE, "Deleted."));
    await collect(runner.run(said));
    await collect(runner.run({ ...said, message: answer(await onlyPending(runner), { confirmed: true }) }));
    expect(ran).toEqual(["delete_file(/tmp/x) as call-1"]);
  });

  test("No LLM call is needed on the resume path: the result is there before the model is asked again", async () => {
    const order: string[] = [];
    const model = play(DELETE, ({ contents }) => {
      order.push(`the model sees ${contents.at(-1)?.parts[0]?.functionResponse?.name ?? "nothing"}`);
      return "Deleted.";
    });
    const { runner, ran } = fileManager(model);
    await collect(runner.run(said));
    const { finished } = await runner.approve(await onlyPending(runner), { by: { id: "ana" } });
    expect(model.requests).toHaveLength(1);
    await finished;
    expect({ ran: ran.length, order }).toEqual({ ran: 1, order: ["the model sees delete_file"] });
  });

  test("Minimal custom code: the same, in our words, is a hook of two lines or a flag", async () => {
    const remove = tool({ name: "delete_file", description: "Deletes.", execute: () => "deleted" });
    const model = play(DELETE);
    const agent = new Agent({
      name: "a",
      model,
      tools: [remove],
      beforeTool: ({ tool: { name }, ctx }) => {
        if (NEEDS_APPROVAL.has(name)) ctx.requestConfirmation();
      },
    });
    const turn = await makeRunner({ agent }).send("Delete it", { user: "ana" });
    expect(turn.pending).toMatchObject([{ hint: "Approve execution of tool delete_file?" }]);
  });
});

describe("Data Flow", () => {
  test('before_tool_callback calls request_confirmation() and returns {"status": "confirmation_requested"} to block execution: the stub is no result', async () => {
    const model = play(DELETE, "Deleted.");
    const { runner } = fileManager(model);
    const events = await collect(runner.run(said));
    await collect(runner.run({ ...said, message: answer(await onlyPending(runner), { confirmed: true }) }));
    expect(JSON.stringify([events, await eventsOf(runner), model.requests])).not.toContain(
      "confirmation_requested",
    );
  });

  test("an adk_request_confirmation event is generated, long_running_tool_ids set on the event", async () => {
    const { runner } = fileManager(play(DELETE));
    const pause = (await collect(runner.run(said))).at(-1);
    const id = await onlyPending(runner);
    expect(pause?.longRunningToolIds).toEqual([id]);
    expect(pause?.content?.parts).toEqual([
      {
        functionCall: {
          id,
          name: "adk_request_confirmation",
          args: {
            originalFunctionCall: { id: "call-1", name: "delete_file", args: { path: "/tmp/x" } },
            toolConfirmation: { hint: HINT, confirmed: false },
          },
        },
      },
    ]);
  });

  test("Executor resume path: the decision is a FunctionResponse(name=adk_request_confirmation, response=ToolConfirmation(confirmed=True))", async () => {
    const { runner, ran } = fileManager(play(DELETE, "Deleted."));
    await collect(runner.run(said));
    const [pending = ""] = findPendingConfirmations(await eventsOf(runner));
    const events = await collect(runner.run({ ...said, message: answer(pending, { confirmed: true }) }));
    expect(ran).toHaveLength(1);
    expect(partsOf(events)).toEqual([
      {
        functionResponse: {
          id: "call-1",
          name: "delete_file",
          response: { done: "delete_file /tmp/x" },
        },
      },
      { text: "Deleted." },
    ]);
    expect(findPendingConfirmations(await eventsOf(runner))).toEqual([]);
  });

  test("Finds original function call: in the ledger, by its id, also by a Runner that was not there when it was asked", async () => {
    const ledger = `sqlite:${join(await resources.folder(), "approvals.db")}`;
    const first = fileManager(play(DELETE), { ledger });
    await collect(first.runner.run(said));
    await first.runner.close();
    const second = fileManager(play("Deleted."), { ledger });
    const id = await onlyPending(second.runner);
    const events = await collect(second.runner.run({ ...said, message: answer(id, { confirmed: true }) }));
    expect(first.ran).toEqual([]);
    expect(second.ran).toEqual(["delete_file(/tmp/x) as call-1"]);
    expect(events.at(-1)?.content?.parts).toEqual([{ text: "Deleted." }]);
  });
});

describe("Layer 5: Approval Callback, a before_tool_callback with three branches", () => {
  test("1. Tool not in approval set: returns None immediately; the tool executes normally", async () => {
    const model = play([call("read_file", { path: "/tmp/x" }, "call-1")], "Read.");
    const { runner, ran, branches } = fileManager(model);
    expect(await runner.send("Read /tmp/x", { user: "ana" })).toMatchObject({
      status: "completed",
      text: "Read.",
    });
    expect(ran).toEqual(["read_file(/tmp/x) as call-1"]);
    expect(branches).toEqual([1]);
  });

  test("2. First invocation: calls request_confirmation(hint=...) and returns a stub to block execution", async () => {
    const { runner, ran, branches } = fileManager(play(DELETE));
    const turn = await runner.send("Delete /tmp/x", { user: "ana" });
    expect(turn.pending).toMatchObject([
      { status: "requested", hint: HINT, why: ["a hook asks for confirmation"], args: { path: "/tmp/x" } },
    ]);
    expect(ran).toEqual([]);
    expect(branches).toEqual([2]);
  });

  test("3. Re-invocation after user response, True: the tool executes, and the callback need not be asked again", async () => {
    const { runner, ran, branches } = fileManager(play(DELETE, "Deleted."));
    const turn = await runner.send("Delete /tmp/x", { user: "ana" });
    const { finished } = await runner.approve(String(turn.pending[0]?.id), { by: { id: "ana" } });
    expect(await finished).toMatchObject({ status: "completed", text: "Deleted." });
    expect(ran).toHaveLength(1);
    // Hooks run once, before the gate: a decision is enforced there, not by the callback.
    expect(branches).toEqual([2]);
  });

  test("3. Re-invocation after user response, False: the tool is blocked, even by a callback that forgot this branch", async () => {
    const model = play(DELETE, "I could not.");
    const { runner, ran, branches } = fileManager(model);
    const turn = await runner.send("Delete /tmp/x", { user: "ana" });
    const { finished } = await runner.deny(String(turn.pending[0]?.id), { by: { id: "ana" } });
    expect(await finished).toMatchObject({ status: "completed", text: "I could not." });
    expect(ran).toEqual([]);
    expect(branches).toEqual([2]);
    expect(model.requests.map(resultsIn)).toEqual([[], [{ error: "tool call was rejected by the user" }]]);
  });

  test("The callback requires no session state of its own", async () => {
    const { runner } = fileManager(play(DELETE, "Deleted."));
    const turn = await runner.send("Delete /tmp/x", { user: "ana", session: "s1" });
    const { finished } = await runner.approve(String(turn.pending[0]?.id), { by: { id: "ana" } });
    await finished;
    const session = await runner.sessionService.getSession({ userId: "ana", sessionId: "s1" });
    expect(session?.state).toEqual({});
  });
});

describe("Layer 8: Page reload recovery, from the session's events", () => {
  const original = { id: "call-1", name: "delete_file", args: { path: "/tmp/x" } };

  test("still input-required: pending approval card with the original tool name, arguments, and ID", async () => {
    const { runner } = fileManager(play(DELETE));
    await collect(runner.run(said));
    expect(cardsOf(await eventsOf(runner))).toEqual([{ original, badge: "pending_approval" }]);
  });

  test.each([
    { confirmed: true, badge: "approved" },
    { confirmed: false, badge: "rejected" },
  ])(
    "history contains a user decision: resolved card ($badge), whoever decided and however",
    async ({ confirmed, badge }) => {
      const { runner } = fileManager(play(DELETE, "Done."));
      await collect(runner.run(said));
      const by = { id: "boss@corp" };
      const [decided] = await runner.decide([{ id: await onlyPending(runner), confirmed }], { by });
      expect(decided).toMatchObject({ confirmation: { decision: { confirmed } } });
      expect(cardsOf(await eventsOf(runner))).toEqual([{ original, badge }]);
    },
  );

  test("the approval card does not reappear on every page reload: a repeated answer adds nothing", async () => {
    const model = play(DELETE, "Deleted.");
    const { runner, ran } = fileManager(model);
    await collect(runner.run(said));
    const approval = answer(await onlyPending(runner), { confirmed: true });
    await collect(runner.run({ ...said, message: approval }));
    const before = await eventsOf(runner);
    await collect(runner.run({ ...said, message: approval }));
    expect(await eventsOf(runner)).toEqual(before);
    expect({ ran: ran.length, asked: model.requests.length }).toEqual({ ran: 1, asked: 2 });
  });
});

describe("Layer 9: when multiple tools are pending approval in the same turn", () => {
  test('"Approve All": many decisions in one call, each with its own result; the model is called once', async () => {
    const calls = [
      call("write_file", { path: "/a" }, "w"),
      call("read_file", { path: "/b" }, "r"),
      call("delete_file", { path: "/c" }, "d"),
    ];
    const model = play(calls, "All done.");
    const { runner, ran } = fileManager(model);
    const turn = await runner.send("Tidy up", { user: "ana" });
    expect(ran).toEqual(["read_file(/b) as r"]);
    const decisions = turn.pending.map(({ id }) => ({ id, confirmed: true }));
    const results = await runner.decide(decisions, { by: { id: "ana" } });
    for (const result of results) if ("finished" in result) await result.finished;
    expect(ran.toSorted()).toEqual(["delete_file(/c) as d", "read_file(/b) as r", "write_file(/a) as w"]);
    expect(model.requests.map(resultsIn)).toEqual([
      [],
      [{ done: "write_file /a" }, { done: "read_file /b" }, { done: "delete_file /c" }],
    ]);
  });
});

describe("ADK Loop Break Caveat", () => {
  test("no explicit break is required: the stream ends by itself, and its last event has long_running_tool_ids", async () => {
    const { runner } = fileManager(play(DELETE));
    const events = await collect(runner.run(said));
    expect(events.map(({ longRunningToolIds }) => longRunningToolIds?.length ?? 0)).toEqual([0, 1]);
  });

  test("there are not two events in order: no function_response_event follows the tool_confirmation_event", async () => {
    const { runner } = fileManager(play(DELETE));
    await collect(runner.run(said));
    const responses = partsOf(await eventsOf(runner)).filter((part) =>
      Object.hasOwn(part as object, "functionResponse"),
    );
    expect(responses).toEqual([]);
  });

  test("the agent does not feed the stub response back to the LLM and continue: between request and answer no model is called", async () => {
    const model = play(DELETE, "Deleted.");
    const { runner, ran } = fileManager(model);
    // A consumer that reads on to the end, as one without the break does.
    await collect(runner.run(said));
    await runner.work({ once: true });
    expect({ ran, asked: model.requests.length }).toEqual({ ran: [], asked: 1 });
    await collect(runner.run({ ...said, message: answer(await onlyPending(runner), { confirmed: true }) }));
    expect({ ran: ran.length, asked: model.requests.length }).toEqual({ ran: 1, asked: 2 });
  });

  test("nor is the gate bypassed when an ungated sibling does have a response to give", async () => {
    const model = play([call("read_file", { path: "/b" }, "r"), ...DELETE], "Both.");
    const { runner, ran } = fileManager(model);
    const events = await collect(runner.run(said));
    expect(ran).toEqual(["read_file(/b) as r"]);
    expect(events.some(({ content }) => content?.parts[0]?.functionResponse?.id === "r")).toBe(true);
    expect(model.requests).toHaveLength(1);
    await collect(runner.run({ ...said, message: answer(await onlyPending(runner), { confirmed: true }) }));
    expect(model.requests.map(resultsIn).at(-1)).toEqual([
      { done: "read_file /b" },
      { done: "delete_file /tmp/x" },
    ]);
  });
});

describe("Rejection Flow", () => {
  test("1. ToolConfirmation(confirmed=False) as a FunctionResponse", async () => {
    const { runner, ran } = fileManager(play(DELETE, "I cannot."));
    await collect(runner.run(said));
    const id = await onlyPending(runner);
    await collect(runner.run({ ...said, message: answer(id, { confirmed: false }) }));
    expect(ran).toEqual([]);
    expect(await runner.pending()).toEqual([]);
  });

  test("4. This dict becomes the tool's FunctionResponse content, which carries the original function_call_id, and the reason", async () => {
    const { runner } = fileManager(play(DELETE, "I cannot."));
    await collect(runner.run(said));
    const rejection = { confirmed: false, rejection_reason: "still needed" };
    const events = await collect(
      runner.run({ ...said, message: answer(await onlyPending(runner), rejection) }),
    );
    expect(partsOf(events)[0]).toEqual({
      functionResponse: {
        id: "call-1",
        name: "delete_file",
        response: { error: "tool call was rejected by the user", reason: "still needed" },
      },
    });
  });

  test("5. The LLM sees the rejection and generates a text response explaining it cannot proceed", async () => {
    const model = play(DELETE, (request) => {
      const [refusal] = resultsIn(request);
      return `I cannot: ${JSON.stringify(refusal?.["reason"])}`;
    });
    const { runner } = fileManager(model);
    const turn = await runner.send("Delete /tmp/x", { user: "ana" });
    const rejection = { by: { id: "ana" }, reason: "still needed" };
    const { finished } = await runner.deny(String(turn.pending[0]?.id), rejection);
    expect((await finished).text).toBe('I cannot: "still needed"');
  });
});
