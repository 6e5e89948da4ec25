import { expect, test } from "vitest";
import { createA2aApp } from "../../../src/a2a/index.ts";
import type { Commit } from "../../../src/engine/index.ts";
import { createApp } from "../../../src/http/index.ts";
import { serve } from "../../../src/http/node/index.ts";
import { CountersignError, createLedger, type Ledger, Runner } from "../../../src/index.ts";
import { watchCommits } from "../../support/ledger/ledger-proxy.ts";
import { useResources } from "../../support/resources.ts";
import { approvalOf, scriptedAgent, stateOf, taskIn, type WantedCall, Wire } from "./a2a-server.ts";

const resources = useResources();
const DELETE = { id: "call-1", name: "delete_file", args: { path: "a" } };
const WRITE = { id: "call-2", name: "write_file", args: { path: "b" } };

async function open(ledger: Ledger, ran: WantedCall[], basePath?: string): Promise<string> {
  const runner = new Runner({ agent: scriptedAgent(ran), ledger });
  const app = createApp({
    apps: { desk: runner },
    mounts: [createA2aApp({ apps: { desk: runner } })],
    ...(basePath === undefined ? {} : { basePath }),
  });
  const server = await serve({ app, port: 0 });
  resources.add(async () => {
    await server.close({ graceMs: 0 });
    await runner.close();
  });
  return `${server.url}${basePath ?? ""}/a2a/desk`;
}

function isApproval({ writes }: Commit): boolean {
  return writes.some((write) => write.kind === "confirmation-update" && write.set.status === "approved");
}

test("an answer of which only a part could be committed is completed by sending it again", async () => {
  let approvals = 0;
  const ledger = watchCommits(await createLedger("memory:"), {
    before: (commit) => {
      approvals += isApproval(commit) ? 1 : 0;
      if (isApproval(commit) && approvals === 2)
        throw new CountersignError("ledger-unreachable", "The disk is gone.");
    },
  });
  const ran: WantedCall[] = [];
  const wire = new Wire({ url: await open(ledger, ran) }, { hitl: true });
  const task = await wire.order(DELETE, WRITE);
  expect((await wire.answer(task, approvalOf(task), { messageId: "m-1" })).error).toBeDefined();
  // Under another id it does not fit any more what is open.
  expect((await wire.answer(task, approvalOf(task), { messageId: "m-2" })).error?.code).toBe(-32602);
  const done = taskIn(await wire.answer(task, approvalOf(task), { messageId: "m-1" }));
  expect([done.id, stateOf(done)]).toEqual([task.id, "completed"]);
  expect(ran.map(({ name }) => name)).toEqual(["delete_file", "write_file"]);
});

test("under a base path, tasks and cards are where they are mounted", async () => {
  const url = await open(await createLedger("memory:"), [], "/approvals");
  const wire = new Wire({ url });
  expect(stateOf(taskIn(await wire.say("hello")))).toBe("completed");
  const card = await fetch(`${url}/.well-known/agent-card.json`, { headers: { "a2a-version": "1.0" } });
  expect(await card.json()).toMatchObject({ supportedInterfaces: [{ url }, { url }] });
  expect((await fetch(url)).status).toBe(405);
  expect((await fetch(`${url}x/.well-known/agent-card.json`)).status).toBe(404);
});

test("an internal error is answered without details", async () => {
  let broken = false;
  const ledger = watchCommits(await createLedger("memory:"), {
    before: () => {
      if (broken) throw new Error("password=hunter2");
    },
  });
  const wire = new Wire({ url: await open(ledger, []) });
  await wire.say("hello");
  broken = true;
  const { error } = await wire.say("hello");
  expect(error?.code).toBe(-32603);
  expect(JSON.stringify(error)).not.toContain("hunter2");
  broken = false;
});
