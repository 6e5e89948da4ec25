import { expect, test } from "vitest";
import { approvalOf, stateOf, taskIn, Wire } from "../e2e/a2a/a2a-server.ts";
import { type Folder, makeFolder } from "../support/processes/command-line.ts";
import { writePayer } from "./payer.ts";

interface Site {
  readonly url: string;
}

async function serve(folder: Folder, ...flags: readonly string[]): Promise<string> {
  const server = folder.start(["serve", "agents", "--port", "0", "--json", ...flags]);
  const printed = await server.until(/\{"url".*\n/);
  const { url } = JSON.parse(/\{"url".*/.exec(printed)?.[0] ?? "") as Site;
  return `${url}/a2a/payer`;
}

function tokenFor(folder: Folder, user: string): Record<string, string> {
  const { token } = folder.json(["tokens", "create", "--user", user]) as { readonly token: string };
  return { authorization: `Bearer ${token}` };
}

test("serve answers A2A without a login, and anyone on this machine may decide", async () => {
  const folder = makeFolder();
  writePayer(folder);
  folder.write("go", "");
  const url = await serve(folder);
  const wire = new Wire({ url }, { hitl: true });
  const task = taskIn(await wire.say("Pay 5"));
  expect(stateOf(task)).toBe("input-required");
  expect(stateOf(taskIn(await wire.answer(task, approvalOf(task))))).toBe("completed");
  expect(folder.read("effects.log")).toBe("start 5\nend 5\n");
});

test("with a login decisions over A2A are taken only where --a2a-decisions says so", async () => {
  const folder = makeFolder();
  writePayer(folder);
  folder.write("go", "");
  const closed = await serve(folder, "--auth", "tokens");
  const headers = tokenFor(folder, "ana");
  const wire = new Wire({ url: closed }, { hitl: true, headers });
  const task = taskIn(await wire.say("Pay 5"));
  expect((await wire.answer(task, approvalOf(task))).error?.code).toBe(-32004);
  const card = await fetch(`${closed}/.well-known/agent-card.json`, { headers: { "a2a-version": "1.0" } });
  expect(await card.json()).toMatchObject({ securityRequirements: [{ schemes: { bearer: {} } }] });
  const open = await serve(folder, "--auth", "tokens", "--a2a-decisions");
  const there = new Wire({ url: open }, { hitl: true, headers });
  expect(stateOf(taskIn(await there.answer(task, approvalOf(task))))).toBe("completed");
  expect(folder.read("effects.log")).toBe("start 5\nend 5\n");
});
