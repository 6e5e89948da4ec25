import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { Agent, type Runner, type Turn } from "../../../src/index.ts";
import { McpToolset, type McpToolsetOptions } from "../../../src/mcp/index.ts";
import { call, play, resultsIn, type StrictModel, useRunners } from "../../seeds/scripted-runner.ts";
import { scriptedPeer } from "../../support/mcp/scripted-peer.ts";
import { useResources } from "../../support/resources.ts";

const resources = useResources();
const makeRunner = useRunners();
const ana = { user: "ana" } as const;
const byAna = { by: { id: "ana" } } as const;

function open(options: McpToolsetOptions): McpToolset {
  const set = new McpToolset({ onWarning: () => {}, ...options });
  resources.add(() => set.close());
  return set;
}

interface PeerTool {
  readonly name: string;
  readonly description?: string;
  readonly annotations?: object;
  readonly inputSchema?: object;
}

const toolOf = (tool: PeerTool): PeerTool => ({
  description: "Does.",
  inputSchema: { type: "object" },
  ...tool,
});

/** A server of our own that can misbehave, and the log of what it was asked. */
async function peer(
  tools: readonly PeerTool[],
  options: Partial<McpToolsetOptions> = {},
): Promise<{ readonly set: McpToolset; readonly calls: () => Promise<readonly string[]> }> {
  const { server, calls } = await scriptedPeer(await resources.folder(), tools.map(toolOf));
  return { set: open({ name: "peer", server, ...options }), calls };
}

function runnerWith(set: McpToolset, model: StrictModel, ledger = "memory:"): Runner {
  return makeRunner({ agent: new Agent({ name: "a", model, tools: [set] }), ledger });
}

async function approve(runner: Runner, { pending }: Turn): Promise<Turn> {
  return (await runner.approve(String(pending[0]?.id), byAna)).finished;
}

function fileServer(root: string): { readonly command: string; readonly args: readonly string[] } {
  const program = import.meta.resolve("@modelcontextprotocol/server-filesystem/dist/index.js");
  return { command: process.execPath, args: [fileURLToPath(program), root] };
}

describe("the file server from npm", () => {
  const gated = { named: ["write_file", "edit_file", "move_file"] } as const;

  test("reads at once, and writes once a person has said so", async () => {
    const root = await resources.folder();
    const path = join(root, "note.txt");
    const set = open({ name: "files", server: fileServer(root), confirmation: gated });
    const model = play(
      [call("list_directory", { path: root }), call("write_file", { path, content: "hello" })],
      "Done.",
    );
    const runner = runnerWith(set, model);
    const turn = await runner.send("write", ana);
    expect(turn.pending).toMatchObject([
      { tool: "write_file", source: "files", args: { path, content: "hello" }, why: [expect.any(String)] },
    ]);
    await expect(readFile(path)).rejects.toThrow("ENOENT");
    expect((await approve(runner, turn)).text).toBe("Done.");
    expect(await readFile(path, "utf8")).toBe("hello");
    expect(resultsIn(model.requests[1] as never)).toHaveLength(2);
  });

  test("a denied write leaves the folder unchanged, and the model gets the denial", async () => {
    const root = await resources.folder();
    const path = join(root, "note.txt");
    const model = play([call("write_file", { path, content: "hello" })], "All right.");
    const runner = runnerWith(open({ name: "files", server: fileServer(root), confirmation: gated }), model);
    const { pending } = await runner.send("write", ana);
    await (await runner.deny(String(pending[0]?.id), byAna)).finished;
    await expect(readFile(path)).rejects.toThrow("ENOENT");
    expect(resultsIn(model.requests[1] as never)).toEqual([{ error: "tool call was rejected by the user" }]);
  });

  test("a failure that the server reports reaches the model as one", async () => {
    const root = await resources.folder();
    const model = play([call("read_text_file", { path: "/etc/shadow" })], "I may not.");
    const runner = runnerWith(open({ name: "files", server: fileServer(root) }), model);
    await runner.send("read", ana);
    expect(resultsIn(model.requests[1] as never)[0]).toMatchObject({
      error: expect.stringContaining("outside allowed directories") as string,
    });
  });
});

describe("which tools need a person", () => {
  const tools: readonly PeerTool[] = [
    { name: "look", annotations: { readOnlyHint: true } },
    { name: "add", annotations: { destructiveHint: false } },
    { name: "wipe", annotations: { destructiveHint: true } },
    { name: "silent" },
  ];
  const calls = tools.map(({ name }) => call(name));

  test.each<[McpToolsetOptions["confirmation"], readonly string[]]>([
    ["none", []],
    ["all", ["look", "add", "wipe", "silent"]],
    [{ named: ["add"] }, ["add"]],
    ["destructive", ["wipe", "silent"]],
    [({ name }) => name === "look", ["look"]],
    [
      () => {
        throw new Error("undecided");
      },
      ["look", "add", "wipe", "silent"],
    ],
  ])("under the policy %j", async (confirmation, asked) => {
    const { set } = await peer(tools, confirmation === undefined ? {} : { confirmation });
    const turn = await runnerWith(set, play(calls, "Done.")).send("go", ana);
    expect(turn.pending.map(({ tool }) => tool)).toEqual(asked);
  });

  test("the policy cannot be changed once the tools were listed", async () => {
    const { set } = await peer(tools);
    set.confirmation = "all";
    await set.tools();
    expect(() => {
      set.confirmation = "none";
    }).toThrow("before the first listing");
    expect(set.confirmation).toBe("all");
  });

  test("an invalid policy is refused", () => {
    const server = { command: "true" };
    expect(() => new McpToolset({ name: "x", server, confirmation: "some" as never })).toThrow('"some"');
  });

  test("each name in requireApproval must be in toolNames", () => {
    const server = { command: "true" };
    const options = { name: "x", server, toolNames: ["look"], requireApproval: ["wipe"] };
    expect(() => new McpToolset(options)).toThrow("each requireApproval entry must also appear in toolNames");
    expect(() => new McpToolset({ name: "x", server, requireApproval: ["wipe"] })).toThrow("toolNames");
  });

  test("a name in requireApproval that the server does not list is an error, one in toolNames a warning", async () => {
    const warnings: string[] = [];
    const onWarning = (message: string) => void warnings.push(message);
    const { set } = await peer(tools, { toolNames: ["look", "lok"], onWarning });
    expect((await set.tools()).map(({ name }) => name)).toEqual(["look"]);
    expect(warnings).toEqual(['peer has no tool "lok".']);
    const typo = await peer(tools, { toolNames: ["wpie"], requireApproval: ["wpie"] });
    await expect(typo.set.tools()).rejects.toThrow('has no tool "wpie"');
  });
});

describe("a server that is lost in the middle of a call", () => {
  test("leaves its outcome unknown for a person to settle, and is started again for the next call", async () => {
    const { set, calls } = await peer([{ name: "die" }, { name: "look" }], {
      confirmation: { named: ["die"] },
    });
    const model = play([call("die")], [call("look")], "Done.");
    const runner = runnerWith(set, model);
    const paused = await runner.send("go", ana);
    const turn = await approve(runner, paused);
    expect(turn.unknown).toMatchObject([{ tool: "die", confirmation: paused.pending[0]?.id }]);
    expect(await calls()).toEqual(["call die {}"]);
    await runner.settle(String(paused.pending[0]?.id), { as: "succeeded", result: { seen: true } }, byAna);
    await expect.poll(calls).toEqual(["call die {}", "call look {}"]);
  });

  test("one that stays silent is unknown too, after its timeout", async () => {
    const { set } = await peer([{ name: "hang" }], { timeoutMs: 300 });
    const turn = await runnerWith(set, play([call("hang")])).send("go", ana);
    expect(turn.unknown).toMatchObject([{ tool: "hang" }]);
  });
});

test("a server that cannot be reached when a call is approved loses nothing: it runs when it can be", async () => {
  const folder = await resources.folder();
  const ledger = `sqlite:${folder}/mcp.db`;
  const { set, calls } = await peer([{ name: "pay" }], { confirmation: "all" });
  const before = runnerWith(set, play([call("pay")]), ledger);
  const { pending } = await before.send("go", ana);
  await before.close();
  const gone = open({ name: "peer", server: { command: join(folder, "not-there") }, confirmation: "all" });
  const without = runnerWith(gone, play("Done."), ledger);
  const { confirmation } = await without.approve(String(pending[0]?.id), byAna);
  expect(confirmation.status).toBe("approved");
  await without.close();
  const after = runnerWith(set, play("Done."), ledger);
  await after.work({ once: true });
  expect(await calls()).toEqual(["call pay {}"]);
});

test("a tool that its server changed after a person was asked does not run; a person is asked again, with the change", async () => {
  const { set, calls } = await peer([{ name: "pay" }, { name: "mutate" }], {
    confirmation: { named: ["pay"] },
  });
  const runner = runnerWith(set, play([call("pay"), call("mutate")], "Done."));
  const { pending } = await runner.send("go", ana);
  await expect(runner.approve(String(pending[0]?.id), byAna)).rejects.toMatchObject({
    code: "definition-changed",
  });
  const [again] = await runner.pending();
  expect(again?.why[0]).toContain('its description changed from "Does." to "Does. And more."');
  expect(await calls()).toEqual(["call mutate {}"]);
});

describe("a hostile server", () => {
  test("brings in no reserved name, no second tool of a name, no schema that is too large", async () => {
    const warnings: string[] = [];
    const { set } = await peer(
      [
        { name: "adk_request_confirmation" },
        { name: "pay" },
        { name: "pay", description: "Another." },
        { name: "big", inputSchema: { type: "object", description: "x".repeat(200_000) } },
        { name: "bad name\u202e" },
      ],
      { onWarning: (message) => void warnings.push(message) },
    );
    expect((await set.tools()).map(({ name }) => name)).toEqual(["pay"]);
    expect(warnings).toHaveLength(4);
  });

  test("cannot slip a tool past its gate by spelling it differently, or beside it", async () => {
    const { set: alone, calls } = await peer([{ name: "Wipe" }], { confirmation: { named: ["wipe"] } });
    const turn = await runnerWith(alone, play([call("Wipe")], "Done.")).send("go", ana);
    expect(turn.pending).toMatchObject([{ tool: "Wipe" }]);
    expect(await calls()).toEqual([]);
    const warnings: string[] = [];
    const { set: both } = await peer([{ name: "wipe" }, { name: "Wipe" }], {
      onWarning: (message) => void warnings.push(message),
    });
    expect((await both.tools()).map(({ name }) => name)).toEqual(["wipe"]);
    expect(warnings).toEqual([expect.stringContaining("the same or a very similar name")]);
  });

  test("is sent no arguments of which it could take another than was shown", async () => {
    const { set, calls } = await peer([{ name: "wipe" }], { confirmation: "all" });
    const turn = await runnerWith(set, play([call("wipe", { path: "a", Path: "/etc" })], "Done.")).send(
      "go",
      ana,
    );
    expect(turn).toMatchObject({ status: "completed", pending: [] });
    expect(await calls()).toEqual([]);
  });

  test("whose list is huge is cut to what can be used", async () => {
    const { set } = await peer(Array.from({ length: 3_000 }, (_, i) => ({ name: `t${i}` })));
    expect(await set.tools()).toHaveLength(1_000);
  });

  test("that says its tool may be repeated is not believed unless the author trusts it", async () => {
    const { set } = await peer([{ name: "pay", annotations: { readOnlyHint: true, idempotentHint: true } }]);
    expect((await set.tools())[0]?.repeatable).toBe(false);
  });

  test("cannot fill the ledger: a long result is cut, and one of 100 MB ends the connection, its outcome unknown", async () => {
    const { set } = await peer([{ name: "huge" }]);
    const model = play([call("huge", { characters: 2_000_000 })], "Done.");
    await runnerWith(set, model).send("go", ana);
    expect(JSON.stringify(resultsIn(model.requests[1] as never)).length).toBeLessThan(1_100_000);
    const turn = await runnerWith(set, play([call("huge", { characters: 100_000_000 })])).send("go", ana);
    expect(turn.unknown).toMatchObject([{ tool: "huge" }]);
  });

  test("with a name of another server's is refused until one of them has a prefix", async () => {
    const one = await peer([{ name: "pay" }]);
    const two = await peer([{ name: "pay" }], { name: "other" });
    const both = new Agent({ name: "a", model: play("Hi."), tools: [one.set, two.set] });
    expect(await makeRunner({ agent: both }).send("hi", ana)).toMatchObject({
      status: "failed",
      error: { message: expect.stringContaining('two tools named "pay"') as string },
    });
    const apart = await peer([{ name: "pay" }], { name: "other", prefix: "other_" });
    const agent = new Agent({ name: "a", model: play("Hi."), tools: [one.set, apart.set] });
    expect(await makeRunner({ agent }).send("hi", ana)).toMatchObject({ text: "Hi." });
  });
});

test("who may approve, and until when, is what the toolset says", async () => {
  const approvers = { roles: ["ops"], notRequester: true } as const;
  const { set } = await peer([{ name: "pay" }], { confirmation: "all", approvers, expiresInMs: 60_000 });
  const { pending } = await runnerWith(set, play([call("pay")])).send("go", ana);
  expect(pending).toMatchObject([
    { requirements: [{ from: approvers, count: 1 }], expiresAt: expect.any(String) as string },
  ]);
});
