import { expect, test } from "vitest";
import { createClient } from "../../../src/client/index.ts";
import { keepNotice } from "../../support/ledger/store-notice.ts";
import { useResources } from "../../support/resources.ts";
import { openStage, type Stage } from "./approvals-server.ts";

const resources = useResources();

const DETAILS = { session: "s-secret", call: "c-secret", tool: "transfer" };

async function openScene(): Promise<{ readonly stage: Stage; readonly id: string }> {
  const stage = await openStage(resources);
  const id = await keepNotice(stage.engine.ledger, { message: "the ledger lost a commit", details: DETAILS });
  return { stage, id };
}

function acknowledgement(id: string): string {
  return `/v1/notices/${encodeURIComponent(id)}/acknowledgement`;
}

test("whoever may decide is told that something was lost, and nothing of whose", async () => {
  const { stage, id } = await openScene();
  for (const person of ["ana", "meg"]) {
    const answer = await stage.ask(person, "GET", "/v1/notices");
    expect(answer).toMatchObject({ status: 200 });
    expect(answer.headers.get("cache-control")).toBe("no-store");
    expect(answer.json).toEqual({
      items: [
        {
          id,
          kind: "lost-commits",
          at: expect.stringMatching(/^20.*Z$/) as string,
          message: "the ledger lost a commit",
          count: 1,
        },
      ],
    });
  }
});

test("administrators are told by which process, and what about", async () => {
  const { stage, id } = await openScene();
  const { json } = await stage.ask("root", "GET", "/v1/notices");
  expect(json).toMatchObject({ items: [{ id, host: "one", pid: 7, details: [DETAILS] }] });
});

test("whoever only reads is told nothing, and nobody but an administrator hides it", async () => {
  const { stage, id } = await openScene();
  expect(await stage.ask("watcher", "GET", "/v1/notices")).toMatchObject({ status: 403 });
  for (const person of ["ana", "meg", "watcher", "agent"]) {
    expect(await stage.ask(person, "POST", acknowledgement(id), {})).toMatchObject({ status: 403 });
  }
  expect((await stage.ask("meg", "GET", "/v1/notices")).json).toMatchObject({ items: [{ id }] });
});

test("an agent hides it from nobody, whatever its scopes are", async () => {
  const stage = await openStage(resources, {
    app: { authenticate: () => ({ id: "robot", kind: "agent", scopes: ["admin", "decide"] }) },
  });
  const id = await keepNotice(stage.engine.ledger);
  expect(await stage.ask("robot", "POST", acknowledgement(id), {})).toMatchObject({ status: 403 });
  expect((await stage.ask("robot", "GET", "/v1/notices")).json).toMatchObject({ items: [{ id }] });
});

test("one that was acknowledged is hidden from all; who did so first stands, on record", async () => {
  const { stage, id } = await openScene();
  const first = await stage.ask("root", "POST", acknowledgement(id), {});
  expect(first).toMatchObject({ status: 200, json: { id, acknowledged: { by: "root" } } });
  const again = await stage.ask("root", "POST", acknowledgement(id), {});
  expect(again.json).toEqual(first.json);
  for (const person of ["root", "ana"])
    expect((await stage.ask(person, "GET", "/v1/notices")).json).toEqual({ items: [] });
  for (const other of ["no", "new-history-0", `${id} `]) {
    const refused = await stage.ask("root", "POST", acknowledgement(other), {});
    expect(refused).toMatchObject({ status: 404, json: { code: "unknown-notice" } });
  }
});

test("another server of the ledger shows it too, and so does one that was restarted", async () => {
  const { stage, id } = await openScene();
  const other = await openStage(resources, { engine: { ledger: stage.engine.ledger } });
  expect((await other.ask("ana", "GET", "/v1/notices")).json).toMatchObject({ items: [{ id }] });
});

test("readiness does not depend on it", async () => {
  const { stage } = await openScene();
  expect(await stage.ask("root", "GET", "/readyz")).toMatchObject({ status: 200 });
});

test("the client lists and acknowledges them", async () => {
  const { stage, id } = await openScene();
  const root = createClient({
    baseUrl: "http://127.0.0.1",
    headers: { authorization: "root" },
    fetch: (request) => stage.app.fetch(request),
  });
  const { items } = await root.notices.list();
  expect(items).toMatchObject([{ id, details: [DETAILS] }]);
  expect(await root.notices.acknowledge(id)).toMatchObject({ id, acknowledged: { by: "root" } });
  expect((await root.notices.list()).items).toEqual([]);
  await expect(root.notices.acknowledge("no")).rejects.toMatchObject({ status: 404, code: "unknown-notice" });
});
