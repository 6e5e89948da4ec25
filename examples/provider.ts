// Answering in this process: the code that runs the agent decides, while the call waits.
import assert from "node:assert/strict";
import { Agent, type ConfirmationProvider, Runner, tool } from "../src/index.ts";
import { scripted } from "../src/models/scripted/index.ts";

const ran: string[] = [];
const tools = ["read_file", "delete_file"].map((name) =>
  tool({ name, description: name, requireConfirmation: true, execute: () => void ran.push(name) }),
);

/** Calls both tools at once, and then says so. */
const model = scripted(({ contents }) =>
  contents.length > 1
    ? "I have asked for both."
    : tools.map(({ name }) => ({ functionCall: { name, args: { path: "/tmp/x" } } })),
);

/** Runs an agent with this provider; returns what ran and what still waits for a person. */
async function outcomeOf(confirmationProvider: ConfirmationProvider): Promise<readonly string[][]> {
  ran.length = 0;
  const runner = new Runner({
    agent: new Agent({ name: "files", model, tools, confirmationProvider }),
    ledger: "memory:",
  });
  const { pending } = await runner.send("Read it and delete it", { user: "ana" });
  await runner.close();
  return [ran.toSorted(), pending.map((confirmation) => confirmation.tool)];
}

// #region patterns
/** Always approve: for tests. */
const always: ConfirmationProvider = () => true;

/** Look up what was approved beforehand in a database. */
const approvedBefore: ConfirmationProvider = async ({ toolName }) => database.has(toolName);

/** Approve what is safe; leave the rest to people: the run pauses, and the question is in the ledger. */
const onlyReads: ConfirmationProvider = ({ toolName }) => (toolName === "read_file" ? true : undefined);
// #endregion

const database = new Set(["read_file"]);
assert.deepEqual(await outcomeOf(always), [["delete_file", "read_file"], []]);
assert.deepEqual(await outcomeOf(approvedBefore), [["read_file"], []], "false denies");
assert.deepEqual(
  await outcomeOf(onlyReads),
  [["read_file"], ["delete_file"]],
  "undefined leaves it to people",
);

ran.length = 0;

// #region channel
const decisions = new Map<string, PromiseWithResolvers<boolean>>();

/** Created by whichever comes first: the provider that waits, or the page that shows the question. */
function decisionOn(toolCallId: string): PromiseWithResolvers<boolean> {
  const decision = decisions.get(toolCallId) ?? Promise.withResolvers<boolean>();
  decisions.set(toolCallId, decision);
  return decision;
}

const agent = new Agent({
  name: "files",
  model,
  tools,
  confirmationProvider: ({ toolCallId }) => decisionOn(toolCallId).promise,
});
const runner = new Runner({ agent, ledger: "memory:" });

for await (const event of runner.stream({
  userId: "ana",
  sessionId: "s1",
  message: "Read it and delete it",
})) {
  if (event.type === "confirmation-required") {
    const { toolCallId, toolName, input } = event.confirmationRequest;
    console.log(`${toolName} wants to run with ${input}`);
    decisionOn(toolCallId).resolve(toolName === "read_file"); // what a person clicked
  }
  if (event.type === "complete") console.log(event.content); // I have asked for both.
}
// #endregion
assert.deepEqual(ran, ["read_file"], "the other one was refused");
assert.deepEqual(await runner.pending(), []);
await runner.close();
