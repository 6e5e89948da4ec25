import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { LATEST_PROTOCOL_VERSION } from "@modelcontextprotocol/client";
import { describe, expect, test } from "vitest";
import { type Folder, makeFolder } from "../../support/processes/command-line.ts";
import {
  approve,
  connectHttp,
  peerCommand,
  program,
  startGatewayClient,
  startHttpGateway,
  text,
  toolNamed,
  waiting,
} from "./gateway-process.ts";

const FILES = program("@modelcontextprotocol/server-filesystem");

/** The file server from npm behind the command, gated where it changes something. */
function gatedFiles(folder: Folder, ...flags: readonly string[]): readonly string[] {
  return [
    "--require",
    "write_file,move_file",
    "--name",
    "files",
    ...flags,
    "--",
    process.execPath,
    FILES,
    folder.path,
  ];
}

const writing = (folder: Folder, content = "hello") => ({
  name: "write_file",
  arguments: { path: join(folder.path, "note.txt"), content },
});

describe("the file server from npm behind `countersign mcp`", () => {
  test("over stdio: reads at once, and writes once somebody has approved it on the command line", async () => {
    const folder = makeFolder();
    const { client, words } = await startGatewayClient(folder, gatedFiles(folder));
    const told: string[] = [];
    const calling = client.callTool(writing(folder), {
      onprogress: ({ message }) => void told.push(message ?? ""),
    });
    const [open] = await waiting(folder);
    expect(open).toMatchObject({ app: "mcp:files", tool: "write_file" });
    expect(folder.read("note.txt")).toBe("");
    expect(await client.callTool({ name: "list_directory", arguments: { path: folder.path } })).toMatchObject(
      {
        content: [{ text: expect.stringContaining("countersign.db") as string }],
      },
    );
    expect(folder.run(["approve", open?.id ?? "", "--db", folder.ledger])).toMatchObject({ code: 0 });
    expect(await calling).toMatchObject({
      content: [{ text: expect.stringContaining("Success") as string }],
    });
    expect(folder.read("note.txt")).toBe("hello");
    expect(told[0]).toBe(`write_file waits for a person's approval (${open?.id})`);
    expect(words()).toContain(`pending --watch --db ${folder.ledger}`);
  });

  test("a denial and its reason reach the client, and nothing is written", async () => {
    const folder = makeFolder();
    const { client } = await startGatewayClient(folder, gatedFiles(folder));
    const calling = client.callTool(writing(folder));
    const [open] = await waiting(folder);
    folder.run(["deny", open?.id ?? "", "--reason", "not there", "--db", folder.ledger]);
    expect(await calling).toMatchObject({
      isError: true,
      content: text("tool call was rejected by the user: not there"),
    });
    expect(folder.read("note.txt")).toBe("");
  });

  test("a call that nobody approved in time expires, and the client gets that", async () => {
    const folder = makeFolder();
    const { client } = await startGatewayClient(folder, gatedFiles(folder, "--expires", "1s"));
    expect(await client.callTool(writing(folder))).toMatchObject({
      isError: true,
      content: text("tool call expired before it was approved"),
    });
    expect(folder.read("note.txt")).toBe("");
  });

  test("over HTTP: several clients, each with its own session", async () => {
    const folder = makeFolder();
    const { url, started } = await startHttpGateway(folder, gatedFiles(folder));
    const [one, two] = [await connectHttp(url), await connectHttp(url)];
    const calling = one.callTool(writing(folder));
    const [open] = await waiting(folder);
    expect((await two.listTools()).tools.map(({ name }) => name)).toContain("read_text_file");
    await approve(folder, open?.id ?? "");
    expect(await calling).toMatchObject({
      content: [{ text: expect.stringContaining("Success") as string }],
    });
    expect(await readFile(join(folder.path, "note.txt"), "utf8")).toBe("hello");
    started.signal("SIGTERM");
    expect(await started.ended()).toMatchObject({ code: 0 });
  });

  test("a client that is killed finds the same confirmation when it is back", async () => {
    const folder = makeFolder();
    const first = await startGatewayClient(folder, gatedFiles(folder));
    const lost = first.client.callTool(writing(folder)).catch(() => "lost");
    const [before] = await waiting(folder);
    await first.close();
    expect(await lost).toBe("lost");
    const { client } = await startGatewayClient(folder, gatedFiles(folder));
    const calling = client.callTool(writing(folder));
    const other = client.callTool(writing(folder, "other"));
    const both = await waiting(folder, 2);
    expect(both.map(({ id }) => id)).toContain(before?.id);
    for (const { id } of both) if (id !== before?.id) folder.run(["deny", id, "--db", folder.ledger]);
    await approve(folder, before?.id ?? "");
    expect(await calling).not.toHaveProperty("isError", true);
    expect(await other).toHaveProperty("isError", true);
    expect(folder.read("note.txt")).toBe("hello");
  });

  test("a person decides in an inbox without agents on the same ledger", async () => {
    const folder = makeFolder();
    const server = folder.start(["serve", "--inbox-only", "--port", "0", "--db", folder.ledger]);
    const { client, words } = await startGatewayClient(folder, gatedFiles(folder));
    expect(words()).toContain(`serve --inbox-only --db ${folder.ledger}`);
    const calling = client.callTool(writing(folder));
    const [open] = await waiting(folder);
    const said = await server.until("signed");
    expect(said).toContain(`Inbox only, no agents: ${folder.ledger}`);
    const [, url = ""] = /is running at (http:\S+)/.exec(said) ?? [];
    expect(await (await fetch(`${url}/list-apps`)).json()).toEqual([]);
    const page = await fetch(`${url}/v1/confirmations`);
    expect(await page.json()).toMatchObject({ items: [{ id: open?.id, tool: "write_file" }] });
    const card = await fetch(`${url}/v1/confirmations/${open?.id}`);
    expect(await card.json()).toMatchObject({ app: "mcp:files", can: { decide: true } });
    const decision = await fetch(`${url}/v1/confirmations/${open?.id}/decision`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ confirmed: true }),
    });
    expect(decision.status).toBe(200);
    expect(await calling).not.toHaveProperty("isError", true);
    expect(folder.read("note.txt")).toBe("hello");
  });
});

test("an inbox without agents is served only where that is said, and then without any", () => {
  const folder = makeFolder();
  const bare = folder.run(["serve", "--port", "0"]);
  expect([bare.code, bare.stderr]).toEqual([2, expect.stringContaining("--inbox-only") as string]);
  for (const more of ["agents", "--dev"]) {
    const ran = folder.run(["serve", "--inbox-only", more, "--port", "0"]);
    expect([ran.code, ran.stderr]).toEqual([2, expect.stringContaining("cannot be combined with") as string]);
  }
});

test("the server gets the environment that was meant for it, and none of ours", async () => {
  const folder = makeFolder();
  const everything = program("@modelcontextprotocol/server-everything");
  const { client } = await startGatewayClient(folder, [
    "--require",
    "echo",
    "--",
    process.execPath,
    everything,
    "stdio",
  ]);
  const result = await client.callTool({ name: "get-env", arguments: {} });
  const printed = JSON.stringify(result.content);
  expect(printed).toContain("PATH");
  expect(printed).not.toContain("COUNTERSIGN_");
});

test.each(["stdio", "http"] as const)(
  "over %s a client that tries the newest protocol first goes on with one that has `initialize`",
  async (kind) => {
    const folder = makeFolder();
    const newest = { versionNegotiation: { mode: "auto" } } as const;
    const client =
      kind === "stdio"
        ? (await startGatewayClient(folder, gatedFiles(folder), { client: newest })).client
        : await connectHttp((await startHttpGateway(folder, gatedFiles(folder))).url, newest);
    expect(client.getNegotiatedProtocolVersion()).toBe(LATEST_PROTOCOL_VERSION);
    const calling = client.callTool(writing(folder));
    const [open] = await waiting(folder);
    await approve(folder, open?.id ?? "");
    expect(await calling).not.toHaveProperty("isError", true);
    expect(folder.read("note.txt")).toBe("hello");
  },
);

describe("a gateway that cannot stand says why, and exits", () => {
  test.each<[string, readonly string[], number, string]>([
    ["a name that the server does not list", ["--require", "wrte"], 2, 'has no tool "wrte"'],
    ["a host that others can reach", ["--http", "0", "--host", "0.0.0.0"], 2, "only loopback is allowed"],
    ["a port that is none", ["--http", "many"], 2, 'Invalid --http "many"'],
    ["a time that is none", ["--expires", "soon"], 2, 'Invalid --expires "soon"'],
    ["a name that is none", ["--name", "a/b"], 2, 'Invalid --name "a/b"'],
  ])("%s", async (_, flags, code, message) => {
    const folder = makeFolder();
    const { command } = await peerCommand(folder, [toolNamed("write")]);
    const ran = folder.run(["mcp", ...flags, "--", ...command]);
    expect(ran).toMatchObject({ code, stdout: "" });
    expect(ran.stderr).toContain(message);
  });

  test("a server that cannot be started or reached", () => {
    const folder = makeFolder();
    for (const args of [
      ["--", join(folder.path, "nowhere")],
      ["--url", "http://127.0.0.1:9/mcp"],
    ]) {
      const ran = folder.run(["mcp", ...args]);
      expect(ran).toMatchObject({ code: 2, stdout: "" });
      expect(ran.stderr).toContain("cannot be reached");
    }
  });

  test("no server at all, or two", () => {
    const folder = makeFolder();
    for (const args of [[], ["--url", "http://127.0.0.1:9", "--", "x"]]) {
      expect(folder.run(["mcp", ...args])).toMatchObject({
        code: 2,
        stderr: expect.stringContaining("Name the server") as string,
      });
    }
  });
});

test("asked to end, it lets what runs come to its end, and tells its client", async () => {
  const folder = makeFolder();
  const peer = await peerCommand(folder, [toolNamed("slow")]);
  const args = ["--name", "peer", "--", ...peer.command];
  const { url, started } = await startHttpGateway(folder, args);
  const client = await connectHttp(url);
  const calling = client.callTool({ name: "slow", arguments: {} });
  const [open] = await waiting(folder);
  await approve(folder, open?.id ?? "");
  await expect.poll(peer.calls, { timeout: 20_000 }).toHaveLength(1);
  started.signal("SIGTERM");
  expect(await calling).toMatchObject({ content: text("did slow") });
  expect(await started.ended()).toMatchObject({ code: 0 });
});

test("a call that still runs when the grace time ends becomes unknown", async () => {
  const folder = makeFolder();
  const peer = await peerCommand(folder, [toolNamed("hang")]);
  const args = ["--name", "peer", "--grace", "0", "--", ...peer.command];
  const { url, started } = await startHttpGateway(folder, args);
  const client = await connectHttp(url);
  const lost = client.callTool({ name: "hang", arguments: {} }).catch(() => "lost");
  const [open] = await waiting(folder);
  await approve(folder, open?.id ?? "");
  await expect.poll(peer.calls, { timeout: 20_000 }).toHaveLength(1);
  started.signal("SIGTERM");
  expect(await started.ended()).toMatchObject({ code: 0 });
  const call = await folder.withEngine(async (engine) => {
    await engine.work({ once: true });
    return (await engine.ledger.load({ confirmation: open?.id ?? "" }))?.call;
  });
  expect(call?.status).toBe("unknown");
  await client.close();
  await lost;
});
