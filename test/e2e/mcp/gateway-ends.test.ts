import { describe, expect, test } from "vitest";
import { type Folder, makeFolder } from "../../support/processes/command-line.ts";
import {
  approve,
  connectHttp,
  everything,
  freePort,
  peerCommand,
  startGatewayClient,
  startHttpGateway,
  text,
  toolNamed,
  waiting,
} from "./gateway-process.ts";

async function statusOf(folder: Folder, confirmation: string): Promise<string | undefined> {
  return folder.withEngine(async ({ ledger }) => (await ledger.load({ confirmation }))?.call?.status);
}

const PATIENT = { timeout: 30_000, interval: 200 };

test("a client that disconnects in the middle of a run gets its result when it is back", async () => {
  const folder = makeFolder();
  const peer = await peerCommand(folder, [toolNamed("slow")]);
  const args = ["--name", "peer", "--", ...peer.command];
  const request = { name: "slow", arguments: {} };
  const first = await startGatewayClient(folder, args);
  const lost = first.client.callTool(request).catch(() => "lost");
  const [open] = await waiting(folder);
  await approve(folder, open?.id ?? "");
  await expect.poll(peer.calls, PATIENT).toHaveLength(1);
  await first.close();
  expect(await lost).toBe("lost");
  await expect.poll(() => statusOf(folder, open?.id ?? ""), PATIENT).toBe("succeeded");
  const { client } = await startGatewayClient(folder, args);
  expect(await client.callTool(request)).toMatchObject({ content: text("did slow") });
  expect(await peer.calls()).toHaveLength(1);
});

test("if the server dies, waiting calls get an error, and the command exits as the server would have", async () => {
  const folder = makeFolder();
  const peer = await peerCommand(folder, [toolNamed("write"), toolNamed("die")]);
  const { client, words } = await startGatewayClient(folder, ["--require", "write", "--", ...peer.command]);
  const told = (name: string) =>
    client.callTool({ name, arguments: {} }).catch((error: unknown) => String(error));
  const held = told("write");
  await waiting(folder);
  const dying = told("die");
  for (const error of await Promise.all([held, dying]))
    expect(error).toContain("the connection to the MCP server behind Countersign was lost");
  await expect.poll(words, PATIENT).toContain("exited");
  // Nobody withdrew it.
  await waiting(folder);
});

describe.each(["streamableHttp", "sse"] as const)("for a remote server, over %s", (kind) => {
  test("calls pass or wait, and one that was started again is found again", async () => {
    const folder = makeFolder();
    const port = await freePort();
    const server = await everything(kind, port);
    const address = `http://127.0.0.1:${port}/${kind === "sse" ? "sse" : "mcp"}`;
    const { url } = await startHttpGateway(folder, ["--require", "echo", "--url", address]);
    const client = await connectHttp(url);
    expect(await client.callTool({ name: "get-sum", arguments: { a: 2, b: 3 } })).not.toHaveProperty(
      "isError",
      true,
    );
    const request = { name: "echo", arguments: { message: "hi" } };
    const calling = client.callTool(request);
    const [open] = await waiting(folder);
    await approve(folder, open?.id ?? "");
    expect(await calling).toMatchObject({ content: text("Echo: hi") });
    await server.stop();
    await everything(kind, port);
    // Its session ended with the server's; a new one works, and nobody has to start the gateway again.
    await client.callTool({ name: "get-sum", arguments: { a: 2, b: 3 } }).catch(() => {});
    const again = await connectHttp(url);
    const second = again.callTool(request);
    const [other] = await waiting(folder);
    await approve(folder, other?.id ?? "");
    expect(await second).toMatchObject({ content: text("Echo: hi") });
  });
});

test("who may approve, and until when, is what the command line says", async () => {
  const folder = makeFolder();
  const peer = await peerCommand(folder, [toolNamed("write")]);
  const flags = ["--approvers", "role:ops,ana@corp.com", "--expires", "1h"];
  const { client } = await startGatewayClient(folder, [...flags, "--", ...peer.command]);
  const stop = new AbortController();
  const calling = client.callTool({ name: "write", arguments: {} }, { signal: stop.signal });
  const [open] = await waiting(folder);
  expect(open).toMatchObject({
    requirements: [{ from: { roles: ["ops"], users: ["ana@corp.com"] }, count: 1 }],
    expiresAt: expect.any(Number) as number,
  });
  expect(folder.run(["approve", open?.id ?? "", "--db", folder.ledger])).toMatchObject({ code: 5 });
  stop.abort();
  await expect(calling).rejects.toThrow(/abort/i);
  expect(await peer.calls()).toEqual([]);
});
