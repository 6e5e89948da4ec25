import { describe, expect, test } from "vitest";
import { type Folder, makeFolder } from "../support/processes/command-line.ts";
import { untilWritten, writePayer } from "./payer.ts";

const LEAVE = `
import { Agent, tool } from "countersign";
import { scripted } from "countersign/models/scripted";

const leave = tool({
  name: "leave",
  description: "Takes days off.",
  parameters: { type: "object", properties: { days: { type: "number" }, code: { type: "string" } } },
  requireConfirmation: true,
  confirmationHint: "Let them go?\\u001b[2J",
  secrets: ["/code"],
  confirmationPayload: {
    type: "object",
    properties: {
      granted: { type: "integer", minimum: 1, description: "how many" },
      paid: { type: "boolean" },
      note: { type: "string" },
    },
    required: ["granted", "paid"],
  },
  execute: (_args, ctx) => ({ got: ctx.toolConfirmation?.payload }),
});
const model = scripted(({ contents }) => {
  const last = contents.at(-1)?.parts ?? [];
  const results = last.flatMap((part) => (part.functionResponse ? [part.functionResponse.response] : []));
  if (results.length > 0) return "Results: " + JSON.stringify(results);
  const text = last[0]?.text ?? "";
  const call = { functionCall: { name: "leave", args: { days: 5, code: "hunter2" } } };
  if (text === "twice") return [call, { functionCall: { name: "leave", args: { days: 9, code: "hunter2" } } }];
  return text === "leave" ? [{ text: "One moment" }, call] : "You said " + text;
});
export const rootAgent = new Agent({ name: "Clerk", model, tools: [leave] });
`;

function makeClerk(): Folder {
  const folder = makeFolder();
  folder.write("agents/clerk/agent.ts", LEAVE);
  return folder;
}

const RUN = ["run", "agents/clerk", "--session", "s1"];

interface Listed {
  readonly items: readonly { readonly id: string; readonly status: string }[];
}

function pending(folder: Folder): Listed["items"] {
  return (folder.json(["pending"]) as Listed).items;
}

describe("without a terminal", () => {
  test("a message is answered, and the end of input is not an error", () => {
    const { code, stdout, stderr } = makeClerk().run(RUN, {}, "hello\n");
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toContain("Clerk\n│ You said hello\n");
  });

  test("at a pause without an answer the ids are printed, and it continues later under the same name", () => {
    const folder = makeClerk();
    const left = folder.run(RUN, {}, "leave\n");
    expect(left.code).toBe(0);
    const [open] = pending(folder);
    expect(left.stdout).toContain(`${open?.id.slice(-8)}  leave`);
    expect(left.stdout).toContain("run agents/clerk --session s1");
    expect(left.stdout).not.toContain("hunter2");
    expect(left.stdout).not.toContain("\u001b");
    const resumed = folder.run(RUN, {}, "deny too many days\n");
    expect(resumed.code).toBe(0);
    expect(resumed.stdout).toContain("continued");
    expect(resumed.stdout).toContain('"reason": "too many days"');
    expect(pending(folder)).toEqual([]);
  });

  test("the form is filled in line by line, typed, and asked again where something does not fit", () => {
    const folder = makeClerk();
    const { code, stdout } = folder.run(RUN, {}, "leave\napprove\n0\nmany\n3\nperhaps\nyes\n\n");
    expect(code).toBe(0);
    expect(stdout).toContain(`"many" is not a valid integer.`);
    expect(stdout).toContain(`"perhaps" is not a valid boolean.`);
    expect(stdout).toContain(`{"got":{"granted":3,"paid":true}}`);
    expect(pending(folder)).toEqual([]);
  });

  test("a payload may stand beside the yes, and one that does not fit leaves the question open", () => {
    const folder = makeClerk();
    const { stdout } = folder.run(
      RUN,
      {},
      `leave\napprove {"granted":"x","paid":true}\napprove {"granted":2,"paid":false}\n`,
    );
    expect(stdout).toContain("[payload-mismatch]");
    expect(stdout).toContain(`{"got":{"granted":2,"paid":false}}`);
  });

  test("a word that is neither yes nor no is not an answer", () => {
    const folder = makeClerk();
    const { stdout } = folder.run(RUN, {}, "leave\nok\nsure\n");
    expect(stdout).toContain("Type approve (or y)");
    expect(pending(folder)).toMatchObject([{ status: "requested" }]);
  });

  test("several questions of one turn are asked one by one, and one put off does not hold up the rest", () => {
    const folder = makeClerk();
    const { stdout } = folder.run(RUN, {}, "twice\nlater\nno\n");
    expect(stdout).toContain("/pending asks again");
    const open = pending(folder);
    expect(open).toMatchObject([{ args: { days: 5, code: "[redacted]" } }]);
  });

  test("programs get events and questions as JSON, a line each", () => {
    const folder = makeClerk();
    const { stdout } = folder.run([...RUN, "--json"], {}, "leave\nno\n");
    const lines = stdout
      .trim()
      .split("\n")
      .map(
        (line) => JSON.parse(line) as { readonly event?: unknown; readonly confirmation?: { tool: string } },
      );
    expect(lines.filter(({ confirmation }) => confirmation?.tool === "leave")).toHaveLength(1);
    expect(lines.filter(({ event }) => event !== undefined).length).toBeGreaterThan(2);
    expect(stdout).not.toContain("hunter2");
  });

  test("where people log in to decide, it is done here only with --break-glass, and recorded so", () => {
    const folder = makeFolder();
    writePayer(folder);
    folder.write("go", "");
    const env = { COUNTERSIGN_AUTH: "tokens" };
    const args = ["run", "agents/payer", "--session", "s1"];
    const refused = folder.run(args, env, "Pay 5\ny\n");
    expect(refused.stdout).toContain("This ledger requires a login to decide");
    expect(refused.stdout).toContain("You may not decide this");
    const [open] = pending(folder);
    folder.run([...args, "--break-glass"], env, "y\n");
    expect(folder.json(["show", open?.id ?? ""])).toMatchObject({
      status: "succeeded",
      decision: { via: "cli:break-glass" },
    });
  });

  test("an agent that cannot be loaded, or more than one, is told in one line", () => {
    const folder = makeClerk();
    writePayer(folder);
    expect(folder.run(["run", "agents"]).stderr).toContain("has several agents (clerk, payer)");
    folder.write("agents/clerk/agent.ts", "throw new Error('broken');");
    expect(folder.run(RUN)).toMatchObject({ code: 2, stdout: "" });
    expect(folder.run(RUN).stderr).toContain("agents/clerk/agent.ts: Error: broken");
  });
});

describe.skipIf(process.platform !== "linux")("in a terminal", () => {
  test("a pause shows the card and asks; a yes runs it and the answer follows", async () => {
    const folder = makeFolder();
    writePayer(folder);
    folder.write("go", "");
    const terminal = folder.terminal(["run", "agents/payer"], { NO_COLOR: "1" });
    await terminal.until("> ");
    terminal.type("Pay 12\r");
    const screen = await terminal.until("approve, deny or later?");
    expect(screen).toContain(`arguments   │ {"amount":12}`);
    terminal.type("y\r");
    await terminal.until(`It said {"paid":12}`);
    terminal.type("\u0004");
    expect(await terminal.ended()).toMatchObject({ code: 0 });
  });

  test("a yes that was typed before the card was shown approves nothing", async () => {
    const folder = makeFolder();
    writePayer(folder);
    folder.write("go", "");
    const terminal = folder.terminal(["run", "agents/payer"], { NO_COLOR: "1" });
    await terminal.until("> ");
    terminal.type("Pay 12\ry\r");
    await terminal.until("approve, deny or later?");
    terminal.type("\u0003");
    expect((await terminal.ended()).code).toBe(130);
    expect(pending(folder)).toHaveLength(1);
    expect(folder.read("effects.log")).toBe("");
  });

  test("a denial asks for a reason, and the model gets it", async () => {
    const folder = makeFolder();
    writePayer(folder);
    const terminal = folder.terminal(["run", "agents/payer"], { NO_COLOR: "1" });
    await terminal.until("> ");
    terminal.type("Pay 12\r");
    await terminal.until("approve, deny or later?");
    terminal.type("n\r");
    await terminal.until("reason (optional)?");
    terminal.type("no money\r");
    await terminal.until(/It said [^]*no money/);
    terminal.type("/quit\r");
    expect(await terminal.ended()).toMatchObject({ code: 0 });
  });

  test("Ctrl-C at a question leaves it in the ledger and says how to go on", async () => {
    const folder = makeFolder();
    writePayer(folder);
    const terminal = folder.terminal(["run", "agents/payer", "--session", "s9"]);
    await terminal.until("> ");
    terminal.type("Pay 12\r");
    await terminal.until("approve, deny or later?");
    terminal.type("\u0003");
    const { code, screen } = await terminal.ended();
    expect(code).toBe(130);
    expect(screen).toContain("run agents/payer --session s9");
    expect(pending(folder)).toHaveLength(1);
  });

  test("Ctrl-C in the middle of a tool waits for it", async () => {
    const folder = makeFolder();
    writePayer(folder);
    const terminal = folder.terminal(["run", "agents/payer"], { NO_COLOR: "1" });
    await terminal.until("> ");
    terminal.type("Pay 12\r");
    await terminal.until("approve, deny or later?");
    terminal.type("y\r");
    await untilWritten(folder, "effects.log", "start 12");
    terminal.type("\u0003");
    await terminal.until("Waiting for running calls");
    folder.write("go", "");
    const { code, screen } = await terminal.ended();
    expect(code).toBe(130);
    expect(screen).toContain(`It said {"paid":12}`);
    expect(folder.read("effects.log")).toBe("start 12\nend 12\n");
  });

  test("a second Ctrl-C ends at once, and the call is not lost", async () => {
    const folder = makeFolder();
    writePayer(folder);
    const terminal = folder.terminal(["run", "agents/payer"]);
    await terminal.until("> ");
    terminal.type("Pay 12\r");
    await terminal.until("approve, deny or later?");
    const [open] = pending(folder);
    terminal.type("y\r");
    await untilWritten(folder, "effects.log", "start 12");
    terminal.type("\u0003");
    await terminal.until("Waiting for running calls");
    terminal.type("\u0003");
    expect((await terminal.ended()).code).toBe(130);
    expect(folder.json(["show", open?.id ?? ""])).toMatchObject({ status: "executing" });
  });

  test("a decision made elsewhere ends the question, and what came of it is shown", async () => {
    const folder = makeFolder();
    writePayer(folder);
    folder.write("go", "");
    const terminal = folder.terminal(["run", "agents/payer"], { NO_COLOR: "1" });
    await terminal.until("> ");
    terminal.type("Pay 12\r");
    await terminal.until("approve, deny or later?");
    const [open] = pending(folder);
    expect(folder.run(["approve", open?.id ?? ""]).code).toBe(0);
    await terminal.until("Decided elsewhere.");
    await terminal.until(`It said {"paid":12}`);
    terminal.type("\u0004");
    expect(await terminal.ended()).toMatchObject({ code: 0 });
  });

  test("what was put off and is decided elsewhere is shown above the prompt", async () => {
    const folder = makeFolder();
    writePayer(folder);
    folder.write("go", "");
    const terminal = folder.terminal(["run", "agents/payer"], { NO_COLOR: "1" });
    await terminal.until("> ");
    terminal.type("Pay 12\r");
    await terminal.until("approve, deny or later?");
    terminal.type("l\r");
    await terminal.until("/pending asks again");
    const [open] = pending(folder);
    expect(folder.run(["approve", open?.id ?? ""]).code).toBe(0);
    await terminal.until(`It said {"paid":12}`);
    terminal.type("\u0004");
    expect(await terminal.ended()).toMatchObject({ code: 0 });
  });
});
