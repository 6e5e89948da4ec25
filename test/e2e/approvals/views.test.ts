import { expect, test } from "vitest";
import { useResources } from "../../support/resources.ts";
import { startApprovalsServer } from "./approvals-server.ts";

const resources = useResources();

test("whoever may see a request says that they opened it, and everybody who may see it reads that", async () => {
  const server = await startApprovalsServer(resources);
  const [{ id, version } = { id: "", version: 0 }] = await server.say("ana", "pay 5");
  const path = `/v1/confirmations/${id}`;
  expect((await server.ask("ana", "GET", path)).json).not.toHaveProperty("seen");
  const first = await server.ask("ana", "POST", `${path}/view`, {});
  expect(first).toMatchObject({ status: 200, json: { seen: [{ by: { id: "ana" }, via: "api" }] } });
  await server.ask("ana", "POST", `${path}/view`, {});
  // The same person with another login, and somebody who may only read.
  await server.ask("watcher", "POST", `${path}/view`, {});
  await server.ask("root", "POST", `${path}/view`, {});
  expect((await server.ask("bob", "POST", `${path}/view`, {})).status).toBe(404);
  const { json } = await server.ask("root", "GET", path);
  expect(json).toMatchObject({ version, seen: [{ by: { id: "ana" } }, { by: { id: "root" } }] });
  const audit = await server.ask("ana", "GET", `/v1/audit?confirmation=${id}`);
  expect(JSON.stringify(audit.json).match(/confirmation-seen/g)).toHaveLength(2);
  // What was seen before counts.
  const decided = await server.ask("ana", "POST", `${path}/decision?wait=10`, { confirmed: true, version });
  expect(decided).toMatchObject({ status: 200, json: { status: "succeeded", seen: [{}, {}] } });
  const late = await server.ask("meg", "POST", `${path}/view`, {});
  expect(late.status).toBe(404);
});
