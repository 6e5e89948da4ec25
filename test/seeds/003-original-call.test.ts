import { describe, expect, test } from "vitest";
import {
  Agent,
  type Event,
  type JsonObject,
  REQUEST_CONFIRMATION_FUNCTION_CALL_NAME,
  type Runner,
  type ToolConfirmation,
  tool,
} from "../../src/index.ts";
import type { FunctionCall } from "../../src/protocol/index.ts";
import { originalCallFrom } from "../../src/protocol/index.ts";
import { answer, call, collect, play, resultsIn, type StrictModel, useRunners } from "./scripted-runner.ts";

const makeRunner = useRunners();
const scene = { userId: "ana", sessionId: "s1" } as const;

function deleteScene(): {
  readonly runner: Runner;
  readonly model: StrictModel;
  readonly seen: (ToolConfirmation | undefined)[];
} {
  const seen: (ToolConfirmation | undefined)[] = [];
  const deleteFile = tool({
    name: "delete_file",
    description: "Deletes a file.",
    requireConfirmation: true,
    confirmationHint: ({ path }) => `Delete ${path as string} for good?`,
    execute: (_args: JsonObject, ctx) => {
      seen.push(ctx.toolConfirmation as ToolConfirmation | undefined);
      return { deleted: true };
    },
  });
  const model = play([call("delete_file", { path: "/etc/motd" }, "call-7")], "It is settled.");
  return { runner: makeRunner({ agent: new Agent({ name: "a", model, tools: [deleteFile] }) }), model, seen };
}

/** What a client does with the stream: 1. listen for events containing a FunctionCall with this name. */
function requestsIn(events: readonly Event[]): readonly FunctionCall[] {
  return events
    .flatMap(({ content }) => content?.parts ?? [])
    .flatMap(({ functionCall }) => functionCall ?? [])
    .filter(({ name }) => name === REQUEST_CONFIRMATION_FUNCTION_CALL_NAME);
}

async function pause(runner: Runner): Promise<FunctionCall> {
  const [request] = requestsIn(await collect(runner.run({ ...scene, message: "delete it" })));
  if (request === undefined) throw new Error("Nothing was asked.");
  return request;
}

test('const FunctionCallName = "adk_request_confirmation"', () => {
  expect(REQUEST_CONFIRMATION_FUNCTION_CALL_NAME).toBe("adk_request_confirmation");
});

describe("FunctionCallName defines the specific name for the FunctionCall event emitted when a confirmation is required", () => {
  test('The args include "toolConfirmation" with the hint, and "originalFunctionCall" with its name and arguments', async () => {
    const { runner } = deleteScene();
    expect(await pause(runner)).toMatchObject({
      name: "adk_request_confirmation",
      args: {
        toolConfirmation: { hint: "Delete /etc/motd for good?", confirmed: false },
        originalFunctionCall: { id: "call-7", name: "delete_file", args: { path: "/etc/motd" } },
      },
    });
  });

  test("2. Extract the details of the 'originalFunctionCall' from the arguments. 3. Present a clear confirmation prompt", async () => {
    const { runner } = deleteScene();
    const { name, args } = originalCallFrom(await pause(runner));
    expect(`${name} ${JSON.stringify(args)}`).toBe('delete_file {"path":"/etc/motd"}');
  });

  test.each([
    { confirmed: true, result: { deleted: true }, ran: 1 },
    { confirmed: false, result: { error: "tool call was rejected by the user" }, ran: 0 },
  ])(
    "5. Send a FunctionResponse with the same id and a payload like {confirmed: bool}: proceed to execute the 'originalFunctionCall' or block it and return an error ($confirmed)",
    async ({ confirmed, result, ran }) => {
      const { runner, model, seen } = deleteScene();
      const request = await pause(runner);
      const message = answer(String(request.id), { confirmed });
      const events = await collect(runner.run({ ...scene, message }));
      const results = model.requests.slice(1).flatMap(resultsIn);
      expect(results).toEqual([result]);
      expect(seen).toHaveLength(ran);
      expect(requestsIn(events)).toEqual([]);
    },
  );

  test("it MUST have the same 'id' as the received FunctionCall: any other changes nothing", async () => {
    const { runner, seen } = deleteScene();
    await pause(runner);
    const sent = collect(runner.run({ ...scene, message: answer("adk-other", { confirmed: true }) }));
    await expect(sent).rejects.toMatchObject({ code: "unknown-confirmation" });
    expect(seen).toEqual([]);
    expect(await runner.pending()).toHaveLength(1);
  });
});

function wrapper(args: JsonObject): FunctionCall {
  return { id: "adk-1", name: REQUEST_CONFIRMATION_FUNCTION_CALL_NAME, args };
}

describe("OriginalCallFrom retrieves the underlying, original function call from a tool confirmation wrapper", () => {
  const original = { id: "c1", name: "pay", args: { amount: 1 } };
  test("returns the object if already typed", () => {
    expect(originalCallFrom(wrapper({ originalFunctionCall: original }))).toEqual(original);
  });

  test("deserializes the raw JSON map", () => {
    const raw = JSON.parse(JSON.stringify({ originalFunctionCall: original })) as JsonObject;
    expect(originalCallFrom(wrapper(raw))).toEqual(original);
    expect(originalCallFrom(wrapper({ original_function_call: original }))).toEqual(original);
  });

  test.each<[string, JsonObject]>([
    ["missing", {}],
    ["malformed", { originalFunctionCall: "pay" }],
    ["malformed", { originalFunctionCall: { args: {} } }],
  ])('error: If the "originalFunctionCall" argument is %s', (_, args) => {
    expect(() => originalCallFrom(wrapper(args))).toThrow(
      expect.objectContaining({ code: "malformed-call" }),
    );
  });
});

describe("ToolConfirmation represents the state and details of a user confirmation request", () => {
  test("Hint, Confirmed, and Payload, whose structure is application-specific", async () => {
    const { runner, seen } = deleteScene();
    const request = await pause(runner);
    const payload = { because: ["it", "is", "old"] };
    await collect(
      runner.run({ ...scene, message: answer(String(request.id), { confirmed: true, payload }) }),
    );
    expect(seen).toEqual([{ hint: "Delete /etc/motd for good?", confirmed: true, payload }]);
  });

  test("The state before the user has responded is handled outside this struct: by a pending status", async () => {
    const { runner, seen } = deleteScene();
    await pause(runner);
    expect(seen).toEqual([]);
    expect(await runner.pending()).toMatchObject([{ status: "requested" }]);
  });
});
