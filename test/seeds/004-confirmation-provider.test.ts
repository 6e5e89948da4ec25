import { describe, expect, test } from "vitest";
import { z } from "zod";
import {
  Agent,
  type ConfirmationProvider,
  ConfirmationRejected,
  type ConfirmationRequest,
  type JsonValue,
  type Policy,
  type StreamEvent,
  tool,
  toolset,
  withConfirmation,
} from "../../src/index.ts";
import { call, collect, play, resultsIn, type StrictModel, useRunners } from "./scripted-runner.ts";

const makeRunner = useRunners();
const ana = { user: "ana" } as const;
const said = { userId: "ana", sessionId: "s1", message: "Delete old records" } as const;

const DELETE = [call("delete_records", { table: "old" }, "c1")];

/** The seed's DeleteTool, which remembers what it deleted. */
function deleteTool(deleted: string[] = []) {
  return tool({
    name: "delete_records",
    description: "Delete database records",
    parameters: z.object({ table: z.string() }),
    requireConfirmation: true,
    execute: ({ table }) => {
      deleted.push(table);
      return { deleted: table };
    },
  });
}

/** The seed's TransferTool, which asks by itself above $10,000. */
function transferTool(log: string[] = []) {
  return tool({
    name: "transfer",
    description: "Transfers money",
    parameters: z.object({ amount: z.number() }),
    execute: async ({ amount }, ctx) => {
      if (amount > 10_000) {
        try {
          await ctx.confirm("large", { hint: "Large transfer exceeding $10,000", payload: { amount } });
        } catch (error) {
          if (error instanceof ConfirmationRejected) log.push(`${error.name}: ${error.status}`);
          throw error;
        }
      }
      log.push("transferred");
      return "Transfer complete";
    },
  });
}

function transferAgent(model: StrictModel, log: string[], provider?: ConfirmationProvider): Agent {
  return new Agent({
    name: "a",
    model,
    tools: [transferTool(log)],
    ...(provider === undefined ? { withoutProvider: "run" } : { confirmationProvider: provider }),
  });
}

async function requestFor(model: StrictModel, tools: Agent["tools"]): Promise<ConfirmationRequest[]> {
  const requests: ConfirmationRequest[] = [];
  const confirmationProvider: ConfirmationProvider = (request) => requests.push(request) > 0;
  const agent = new Agent({ name: "a", model, tools, confirmationProvider });
  await makeRunner({ agent }).send("Go", ana);
  return requests;
}

function handoff(target: {
  readonly confirmationProvider?: ConfirmationProvider;
  readonly withoutProvider?: "run";
}) {
  const asked: string[] = [];
  const deleted: string[] = [];
  const specialist = new Agent({
    name: "specialist",
    model: play(DELETE, "Done."),
    tools: [deleteTool(deleted)],
    ...target,
  });
  const front = new Agent({
    name: "front",
    model: play([call("transfer_to_agent", { agent_name: "specialist" })]),
    subAgents: [specialist],
    confirmationProvider: () => asked.push("front") > 0,
  });
  return { runner: makeRunner({ agent: front }), asked, deleted };
}

async function outcomeOf(confirmationProvider: ConfirmationProvider): Promise<string[]> {
  const log: string[] = [];
  const names = ["read_file", "write_file"];
  const tools = names.map((name) =>
    tool({ name, description: name, requireConfirmation: true, execute: () => void log.push(name) }),
  );
  const model = play(
    names.map((name) => call(name)),
    "Done.",
  );
  await makeRunner({ agent: new Agent({ name: "a", model, tools, confirmationProvider }) }).send("Go", ana);
  return log.toSorted();
}

function lastResults({ requests }: StrictModel): unknown {
  const last = requests.at(-1);
  return last === undefined ? undefined : resultsIn(last);
}

describe("Setup: register a ConfirmationProvider on the agent", () => {
  test.each([
    { approves: true, result: { deleted: "old" } },
    { approves: false, result: { error: "tool call was rejected by the user" } },
  ])("Return true to approve, false to reject ($approves)", async ({ approves, result }) => {
    const deleted: string[] = [];
    const model = play(DELETE, "Done.");
    const runner = makeRunner({
      agent: new Agent({
        name: "a",
        model,
        tools: [deleteTool(deleted)],
        confirmationProvider: async () => approves,
      }),
    });
    expect(await runner.send("Delete old records", ana)).toMatchObject({
      status: "completed",
      text: "Done.",
    });
    expect(lastResults(model)).toEqual([result]);
    expect(deleted).toEqual(approves ? ["old"] : []);
  });

  test("It is called whenever a tool requires confirmation and blocks until the consumer provides a decision", async () => {
    const decision = Promise.withResolvers<boolean>();
    const called = Promise.withResolvers<void>();
    const deleted: string[] = [];
    const runner = makeRunner({
      agent: new Agent({
        name: "a",
        model: play(DELETE, "Done."),
        tools: [deleteTool(deleted)],
        confirmationProvider: () => {
          called.resolve();
          return decision.promise;
        },
      }),
    });
    const turn = runner.send("Delete old records", ana);
    await called.promise;
    expect(deleted).toEqual([]);
    expect(await runner.pending()).toHaveLength(1);
    decision.resolve(true);
    expect(await turn).toMatchObject({ status: "completed" });
    expect(deleted).toEqual(["old"]);
  });

  test("If the provider returns an error, the tool call fails with that error", async () => {
    const deleted: string[] = [];
    const model = play(DELETE, "It failed.");
    const runner = makeRunner({
      agent: new Agent({
        name: "a",
        model,
        tools: [deleteTool(deleted)],
        confirmationProvider: async () => {
          throw new Error("no terminal");
        },
      }),
    });
    expect(await runner.send("Delete old records", ana)).toMatchObject({ text: "It failed." });
    expect(JSON.stringify(lastResults(model))).toContain("no terminal");
    expect(deleted).toEqual([]);
  });

  test("a decision made elsewhere meanwhile counts, and the provider's signal aborts", async () => {
    const aborted = Promise.withResolvers<unknown>();
    const called = Promise.withResolvers<void>();
    const runner = makeRunner({
      agent: new Agent({
        name: "a",
        model: play(DELETE, "Done."),
        tools: [deleteTool()],
        confirmationProvider: (_request, { signal }) => {
          signal.addEventListener("abort", () => aborted.resolve(signal.reason));
          called.resolve();
          return new Promise(() => {});
        },
      }),
    });
    const turn = runner.send("Delete old records", ana);
    await called.promise;
    const [open] = await runner.pending();
    await runner.approve(String(open?.id), { by: { id: "boss" } });
    expect(await aborted.promise).toBe("decided elsewhere");
    expect(await turn).toMatchObject({ status: "completed", text: "Done." });
  });

  test("a provider that gives no decision leaves it to people: the run pauses", async () => {
    const runner = makeRunner({
      agent: new Agent({
        name: "a",
        model: play(DELETE),
        tools: [deleteTool()],
        confirmationProvider: async () => undefined,
      }),
    });
    expect(await runner.send("Delete old records", ana)).toMatchObject({ status: "paused" });
  });

  test("its decision is recorded as the provider's", async () => {
    const runner = makeRunner({
      agent: new Agent({
        name: "a",
        model: play(DELETE, "Done."),
        tools: [deleteTool()],
        confirmationProvider: () => true,
      }),
    });
    await runner.send("Delete old records", ana);
    const { ledger } = await runner.engine();
    const { items } = await ledger.confirmations({ state: "closed" });
    expect(items.map(({ confirmation }) => confirmation.votes[0]?.by)).toMatchObject([
      { id: "provider:a", kind: "provider" },
    ]);
  });
});

describe("Declarative Confirmation", () => {
  test("Set RequireConfirmation to require approval before Run() is called: it calls the ConfirmationProvider before executing", async () => {
    const order: string[] = [];
    const wipe = tool({
      name: "wipe",
      description: "Wipes.",
      requireConfirmation: true,
      execute: () => void order.push("run"),
    });
    const runner = makeRunner({
      agent: new Agent({
        name: "a",
        model: play([call("wipe")], "Wiped."),
        tools: [wipe],
        confirmationProvider: () => order.push("provider") > 0,
      }),
    });
    await runner.send("wipe", ana);
    expect(order).toEqual(["provider", "run"]);
  });

  test('If no provider is configured, the tool runs normally: with withoutProvider: "run", the author\'s standing approval', async () => {
    const deleted: string[] = [];
    const runner = makeRunner({
      agent: new Agent({
        name: "a",
        model: play(DELETE, "Done."),
        tools: [deleteTool(deleted)],
        withoutProvider: "run",
      }),
    });
    expect(await runner.send("Delete old records", ana)).toMatchObject({ status: "completed" });
    expect(deleted).toEqual(["old"]);
    const { items } = await (await runner.engine()).ledger.confirmations({ state: "closed" });
    expect(items.map(({ confirmation }) => confirmation.votes[0]?.by.id)).toEqual(["author:a"]);
  });

  test("without that option it pauses: no answer is not an approval", async () => {
    const runner = makeRunner({
      agent: new Agent({ name: "a", model: play(DELETE), tools: [deleteTool()] }),
    });
    expect(await runner.send("Delete old records", ana)).toMatchObject({ status: "paused" });
  });

  test.each(["a rule", "the tool requires confirmation"])(
    "the author's approval never lifts a policy gate (%s)",
    async (reason) => {
      const deleted: string[] = [];
      const policy: Policy = () => ({ outcome: "confirm", reason });
      const runner = makeRunner({
        policy,
        agent: new Agent({
          name: "a",
          model: play(DELETE),
          tools: [deleteTool(deleted)],
          withoutProvider: "run",
        }),
      });
      expect(await runner.send("Delete old records", ana)).toMatchObject({ status: "paused" });
      expect(deleted).toEqual([]);
    },
  );
});

describe("Dynamic Confirmation: tools can request confirmation from within Run()", () => {
  const LARGE = [call("transfer", { amount: 20_000 })];

  test("RequestConfirmation blocks until the consumer decides", async () => {
    const log: string[] = [];
    const decision = Promise.withResolvers<boolean>();
    const asked = Promise.withResolvers<void>();
    const agent = transferAgent(play(LARGE, "Done."), log, () => {
      asked.resolve();
      return decision.promise;
    });
    const turn = makeRunner({ agent }).send("Transfer", ana);
    await asked.promise;
    expect(log).toEqual([]);
    decision.resolve(true);
    expect(await turn).toMatchObject({ status: "completed" });
    expect(log).toEqual(["transferred"]);
  });

  test("a small transfer asks nobody", async () => {
    const log: string[] = [];
    const agent = transferAgent(play([call("transfer", { amount: 5 })], "Done."), log, () => {
      throw new Error("It was asked.");
    });
    await makeRunner({ agent }).send("Transfer", ana);
    expect(log).toEqual(["transferred"]);
  });

  test("If rejected, it returns ErrConfirmationRejected: propagate this error to halt execution", async () => {
    const log: string[] = [];
    const model = play(LARGE, "Rejected.");
    const runner = makeRunner({ agent: transferAgent(model, log, () => false) });
    expect(await runner.send("Transfer", ana)).toMatchObject({ status: "completed", text: "Rejected." });
    expect(log).toEqual(["ConfirmationRejected: denied"]);
    expect(lastResults(model)).toEqual([{ error: "tool call was rejected by the user" }]);
  });

  test("If no ConfirmationProvider is configured, RequestConfirmation is a no-op (auto-approve)", async () => {
    const log: string[] = [];
    await makeRunner({ agent: transferAgent(play(LARGE, "Done."), log) }).send("Transfer", ana);
    expect(log).toEqual(["transferred"]);
  });
});

describe("ConfirmationRequest: the provider receives context about the tool call", () => {
  test("For declarative confirmation, Hint and Payload are empty", async () => {
    expect(await requestFor(play(DELETE, "Done."), [deleteTool()])).toEqual([
      { toolCallId: "c1", toolName: "delete_records", input: '{"table":"old"}', hint: "" },
    ]);
  });

  test("For dynamic confirmation, they carry the values passed by the tool", async () => {
    const model = play([call("transfer", { amount: 20_000 }, "t1")], "Done.");
    expect(await requestFor(model, [transferTool()])).toEqual([
      {
        toolCallId: "t1",
        toolName: "transfer",
        input: '{"amount":20000}',
        hint: "Large transfer exceeding $10,000",
        payload: { amount: 20_000 },
      },
    ]);
  });
});

describe("Toolset-Level Confirmation", () => {
  const names = ["delete", "drop_table", "format_disk"];
  const plain = (log: string[]) =>
    names.map((name) => tool({ name, description: name, execute: () => void log.push(name) }));

  test("WithConfirmation marks all tools in a toolset as requiring confirmation", async () => {
    const log: string[] = [];
    const asked: string[] = [];
    const confirmed = withConfirmation(toolset("dangerous", plain(log)));
    const runner = makeRunner({
      agent: new Agent({
        name: "a",
        model: play(
          names.map((name) => call(name)),
          "Done.",
        ),
        tools: [confirmed],
        confirmationProvider: ({ toolName }) => asked.push(toolName) > 0,
      }),
    });
    await runner.send("Go", ana);
    expect(asked.toSorted()).toEqual(names);
    expect(log.toSorted()).toEqual(names);
  });

  test("without modifying the originals", async () => {
    const log: string[] = [];
    const dangerous = toolset("dangerous", plain(log));
    withConfirmation(dangerous);
    const model = play([call("delete")], "Done.");
    const runner = makeRunner({ agent: new Agent({ name: "a", model, tools: [dangerous] }) });
    expect(await runner.send("Go", ana)).toMatchObject({ status: "completed" });
    expect(log).toEqual(["delete"]);
  });
});

describe("Streaming", () => {
  test("an EventConfirmationRequired event is emitted before the provider blocks: a channel-based provider that the streaming consumer unblocks", async () => {
    const pending = new Map<string, (approved: boolean) => void>();
    const deleted: string[] = [];
    const runner = makeRunner({
      agent: new Agent({
        name: "a",
        model: play(DELETE, "Gone."),
        tools: [deleteTool(deleted)],
        confirmationProvider: ({ toolCallId }) =>
          new Promise<boolean>((resolve) => pending.set(toolCallId, resolve)),
      }),
    });
    const seen: StreamEvent["type"][] = [];
    const printed: string[] = [];
    for await (const event of runner.stream(said)) {
      seen.push(event.type);
      switch (event.type) {
        case "confirmation-required": {
          const { toolName, input, toolCallId } = event.confirmationRequest;
          printed.push(`Tool "${toolName}" wants to run with input: ${input}`);
          expect(deleted).toEqual([]);
          pending.get(toolCallId)?.(true);
          break;
        }
        case "content-delta":
          printed.push(event.content);
          break;
        case "complete":
          printed.push("Done!");
          break;
        default:
      }
    }
    expect(seen).toEqual([
      "tool-call",
      "confirmation-required",
      "tool-result",
      "content-delta",
      "content-delta",
      "complete",
    ]);
    expect(printed).toEqual([
      'Tool "delete_records" wants to run with input: {"table":"old"}',
      "Gon",
      "e.",
      "Done!",
    ]);
    expect(deleted).toEqual(["old"]);
  });

  test("the event is there even if the provider answers at once", async () => {
    const runner = makeRunner({
      agent: new Agent({
        name: "a",
        model: play(DELETE, "Gone."),
        tools: [deleteTool()],
        confirmationProvider: () => true,
      }),
    });
    const types = (await collect(runner.stream(said))).map(({ type }) => type);
    expect(types.indexOf("confirmation-required")).toBeGreaterThan(-1);
    expect(types.indexOf("confirmation-required")).toBeLessThan(types.indexOf("tool-result"));
  });
});

describe("Interaction with Hooks: PreToolUse hooks → Confirmation check → tool.Run()", () => {
  test("If a hook denies the tool, the confirmation provider is never called", async () => {
    const asked: string[] = [];
    const deleted: string[] = [];
    const model = play(DELETE, "Blocked.");
    const runner = makeRunner({
      agent: new Agent({
        name: "a",
        model,
        tools: [deleteTool(deleted)],
        beforeTool: (): JsonValue => ({ error: "delete_records is on the blocklist" }),
        confirmationProvider: ({ toolName }) => asked.push(toolName) > 0,
      }),
    });
    expect(await runner.send("Delete old records", ana)).toMatchObject({ text: "Blocked." });
    expect([asked, deleted]).toEqual([[], []]);
    expect(lastResults(model)).toEqual([{ error: "delete_records is on the blocklist" }]);
  });

  test("hooks enforce policy, while confirmation handles human approval: in that order", async () => {
    const order: string[] = [];
    const runner = makeRunner({
      agent: new Agent({
        name: "a",
        model: play(DELETE, "Done."),
        tools: [deleteTool(order)],
        beforeTool: () => void order.push("hook"),
        confirmationProvider: () => order.push("confirmation") > 0,
      }),
    });
    await runner.send("Delete old records", ana);
    expect(order).toEqual(["hook", "confirmation", "old"]);
  });
});

describe("Handoffs: each agent has its own ConfirmationProvider", () => {
  test("When a handoff occurs, the new agent's provider is used", async () => {
    const theirs: string[] = [];
    const { runner, asked, deleted } = handoff({
      confirmationProvider: ({ toolName }) => theirs.push(toolName) > 0,
    });
    expect(await runner.send("Delete old records", ana)).toMatchObject({
      status: "completed",
      text: "Done.",
    });
    expect({ asked, theirs, deleted }).toEqual({ asked: [], theirs: ["delete_records"], deleted: ["old"] });
  });

  test("If the target agent has no provider, its tools run without confirmation: where its author says so", async () => {
    const { runner, asked, deleted } = handoff({ withoutProvider: "run" });
    await runner.send("Delete old records", ana);
    expect({ asked, deleted }).toEqual({ asked: [], deleted: ["old"] });
  });

  test("where its author does not, they pause, and the first agent's provider is not asked", async () => {
    const { runner, asked, deleted } = handoff({});
    expect(await runner.send("Delete old records", ana)).toMatchObject({ status: "paused" });
    expect({ asked, deleted }).toEqual({ asked: [], deleted: [] });
  });
});

describe("Auto-Approve Patterns: the provider is a regular function, implement any approval logic", () => {
  test("Always approve (useful for testing)", async () => {
    expect(await outcomeOf(async () => true)).toEqual(["read_file", "write_file"]);
  });

  test("Check a database of pre-approved tools", async () => {
    const preApproved = new Map([["ana", new Set(["write_file"])]]);
    const isToolPreApproved = async (user: string, name: string): Promise<boolean> =>
      preApproved.get(user)?.has(name) ?? false;
    expect(await outcomeOf(({ toolName }) => isToolPreApproved("ana", toolName))).toEqual(["write_file"]);
  });

  test("Approve safe tools, prompt for dangerous ones", async () => {
    const prompted: string[] = [];
    const promptUser = async ({ toolName }: ConfirmationRequest): Promise<boolean> => {
      prompted.push(toolName);
      return false;
    };
    const provider: ConfirmationProvider = async (request) =>
      request.toolName === "read_file" ? true : promptUser(request);
    expect(await outcomeOf(provider)).toEqual(["read_file"]);
    expect(prompted).toEqual(["write_file"]);
  });
});
