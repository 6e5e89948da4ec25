import { expect, test } from "vitest";
import { type Folder, makeFolder } from "../../support/processes/command-line.ts";
import {
  approve,
  connectHttp,
  peerCommand,
  startGatewayClient,
  startHttpGateway,
  text,
  toolNamed,
  waiting,
} from "./gateway-process.ts";

const TOOLS = ["write", "hang", "slow"].map(toolNamed);
// A process that is gone is known to be after its lease.
const LEASE = { timeout: 60_000, interval: 200 };

/** Lets the lease of whoever ran a call be over, as it is some seconds after they died. */
async function endLease(folder: Folder, confirmation: string): Promise<void> {
  await folder.withEngine(async ({ ledger }) => {
    const { call } = (await ledger.load({ confirmation })) ?? {};
    expect(call).toMatchObject({ status: "executing", owner: expect.any(String) as string });
    await ledger.owners.retire(call?.owner ?? "");
  });
}

test("killed between the approval and the run, the next one runs it, once, and tells the client that asks", async () => {
  const folder = makeFolder();
  const peer = await peerCommand(folder, TOOLS);
  const args = ["--name", "peer", "--", ...peer.command];
  const request = { name: "write", arguments: { path: "a" } };
  const first = await startGatewayClient(folder, args);
  const lost = first.client.callTool(request).catch(() => "lost");
  const [open] = await waiting(folder);
  process.kill(first.pid, "SIGKILL");
  expect(await lost).toBe("lost");
  await approve(folder, open?.id ?? "");
  expect(await peer.calls()).toEqual([]);
  const { client } = await startGatewayClient(folder, args);
  // Nobody asked for it again; it was approved.
  await expect.poll(peer.calls, { timeout: 20_000 }).toEqual(['call write {"path":"a"}']);
  expect(await client.callTool(request)).toMatchObject({ content: text("did write") });
  expect(await peer.calls()).toHaveLength(1);
});

test("killed in the middle of a run, its outcome is reported as unknown until a person settles it", async () => {
  const folder = makeFolder();
  const peer = await peerCommand(folder, TOOLS);
  const args = ["--name", "peer", "--", ...peer.command];
  const request = { name: "hang", arguments: { path: "a" } };
  const first = await startGatewayClient(folder, args);
  const lost = first.client.callTool(request).catch(() => "lost");
  const [open] = await waiting(folder);
  await approve(folder, open?.id ?? "");
  await expect.poll(peer.calls, { timeout: 20_000 }).toHaveLength(1);
  process.kill(first.pid, "SIGKILL");
  expect(await lost).toBe("lost");
  await endLease(folder, open?.id ?? "");
  const { client } = await startGatewayClient(folder, args);
  const unknown = {
    isError: true,
    content: [{ text: expect.stringContaining("outcome is unknown") as string }],
  };
  expect(await client.callTool(request, { timeout: 60_000 })).toMatchObject(unknown);
  expect(await client.callTool(request)).toMatchObject(unknown);
  const result = { content: text("it was done") };
  const settled = folder.run([
    "settle",
    open?.id ?? "",
    "--succeeded",
    JSON.stringify(result),
    "--db",
    folder.ledger,
  ]);
  expect(settled).toMatchObject({ code: 0 });
  expect(await client.callTool(request)).toMatchObject(result);
  expect(await peer.calls()).toHaveLength(1);
}, 120_000);

test("killed after the run and before delivery, the next identical call gets the stored result", async () => {
  const folder = makeFolder();
  const peer = await peerCommand(folder, TOOLS);
  const args = ["--name", "peer", "--", ...peer.command];
  const request = { name: "write", arguments: { path: "a" } };
  const first = await startHttpGateway(folder, args);
  const gone = await connectHttp(first.url);
  const lost = gone.callTool(request).catch(() => "lost");
  const [open] = await waiting(folder);
  await gone.close();
  expect(await lost).toBe("lost");
  await approve(folder, open?.id ?? "");
  const status = async () =>
    folder.withEngine(
      async ({ ledger }) => (await ledger.load({ confirmation: open?.id ?? "" }))?.call?.status,
    );
  await expect.poll(status, LEASE).toBe("succeeded");
  first.started.signal("SIGKILL");
  await first.started.ended();
  const { url } = await startHttpGateway(folder, args);
  const client = await connectHttp(url);
  expect(await client.callTool(request)).toMatchObject({ content: text("did write") });
  expect(await peer.calls()).toHaveLength(1);
  // Told: from now on it is another call.
  const anew = client.callTool(request);
  const [other] = await waiting(folder);
  expect(other?.id).not.toBe(open?.id);
  folder.run(["deny", other?.id ?? "", "--db", folder.ledger]);
  expect(await anew).toMatchObject({ isError: true });
});

test("two gateways on one ledger: one confirmation, one run, both clients get the result", async () => {
  const folder = makeFolder();
  const peer = await peerCommand(folder, TOOLS);
  const args = ["--name", "peer", "--", ...peer.command];
  const request = { name: "slow", arguments: { path: "a" } };
  const desktops = [await startGatewayClient(folder, args), await startGatewayClient(folder, args)];
  const calling = desktops.map(({ client }) => client.callTool(request));
  const [open] = await waiting(folder);
  await approve(folder, open?.id ?? "");
  for (const result of await Promise.all(calling))
    expect(result).toMatchObject({ content: text("did slow") });
  expect(await peer.calls()).toHaveLength(1);
});
