import { expect, test } from "vitest";
import { createClient } from "../../../src/client/index.ts";
import { storeNotice } from "../../support/ledger/store-notice.ts";
import { useResources } from "../../support/resources.ts";
import { type ApprovalsServer, startApprovalsServer } from "./approvals-server.ts";

const resources = useResources();

const DETAILS = { session: "s-secret", call: "c-secret", tool: "transfer" };

async function openScene(): Promise<{ readonly server: ApprovalsServer; readonly id: string }> {
  const server = await startApprovalsServer(resources);
  const id = await storeNotice(server.engine.ledger.items, {
    message: "the ledger lost a commit",
    details: DETAILS,
  });
  return { server, id };
}

function acknowledgement(id: string): string {
  return `/v1/notices/${encodeURIComponent(id)}/acknowledgement`;
}

test("people who may decide see that something was lost, but not whose", async () => {
  const { server, id } = await openScene();
  for (const person of ["ana", "meg"]) {
    const answer = await server.ask(person, "GET", "/v1/notices");
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

test("administrators see which process detected it, and what was lost", async () => {
  const { server, id } = await openScene();
  const { json } = await server.ask("root", "GET", "/v1/notices");
  expect(json).toMatchObject({ items: [{ id, host: "one", pid: 7, details: [DETAILS] }] });
});

test("a reader without `decide` sees nothing, and only an administrator hides it", async () => {
  const { server, id } = await openScene();
  expect(await server.ask("watcher", "GET", "/v1/notices")).toMatchObject({ status: 403 });
  for (const person of ["ana", "meg", "watcher", "agent"]) {
    expect(await server.ask(person, "POST", acknowledgement(id), {})).toMatchObject({ status: 403 });
  }
  expect((await server.ask("meg", "GET", "/v1/notices")).json).toMatchObject({ items: [{ id }] });
});

test("an agent hides it from nobody, whatever its scopes are", async () => {
  const server = await startApprovalsServer(resources, {
    app: { authenticate: () => ({ id: "robot", kind: "agent", scopes: ["admin", "decide"] }) },
  });
  const id = await storeNotice(server.engine.ledger.items);
  expect(await server.ask("robot", "POST", acknowledgement(id), {})).toMatchObject({ status: 403 });
  expect((await server.ask("robot", "GET", "/v1/notices")).json).toMatchObject({ items: [{ id }] });
});

test("an acknowledged notice is hidden from all; the first acknowledgement is stored", async () => {
  const { server, id } = await openScene();
  const first = await server.ask("root", "POST", acknowledgement(id), {});
  expect(first).toMatchObject({ status: 200, json: { id, acknowledged: { by: "root" } } });
  const again = await server.ask("root", "POST", acknowledgement(id), {});
  expect(again.json).toEqual(first.json);
  for (const person of ["root", "ana"])
    expect((await server.ask(person, "GET", "/v1/notices")).json).toEqual({ items: [] });
  for (const other of ["no", "new-history-0", `${id} `]) {
    const refused = await server.ask("root", "POST", acknowledgement(other), {});
    expect(refused).toMatchObject({ status: 404, json: { code: "unknown-notice" } });
  }
});

test("another server of the ledger shows it too, and so does one that was restarted", async () => {
  const { server, id } = await openScene();
  const other = await startApprovalsServer(resources, { engine: { ledger: server.engine.ledger } });
  expect((await other.ask("ana", "GET", "/v1/notices")).json).toMatchObject({ items: [{ id }] });
});

test("readiness does not depend on it", async () => {
  const { server } = await openScene();
  expect(await server.ask("root", "GET", "/readyz")).toMatchObject({ status: 200 });
});

test("the client lists and acknowledges them", async () => {
  const { server, id } = await openScene();
  const root = createClient({
    baseUrl: "http://127.0.0.1",
    headers: { authorization: "root" },
    fetch: (request) => server.app.fetch(request),
  });
  const { items } = await root.notices.list();
  expect(items).toMatchObject([{ id, details: [DETAILS] }]);
  expect(await root.notices.acknowledge(id)).toMatchObject({ id, acknowledged: { by: "root" } });
  expect((await root.notices.list()).items).toEqual([]);
  await expect(root.notices.acknowledge("no")).rejects.toMatchObject({ status: 404, code: "unknown-notice" });
});
