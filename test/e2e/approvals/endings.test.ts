import { describe, expect, test } from "vitest";
import type { Confirmation } from "../../../src/index.ts";
import type { JsonObject } from "../../../src/protocol/index.ts";
import { useResources } from "../../support/resources.ts";
import { type ApprovalsServer, startApprovalsServer, textOf } from "./approvals-server.ts";

const resources = useResources();

function first(pending: readonly Confirmation[]): Confirmation {
  const [one] = pending;
  if (one === undefined) throw new Error("Nothing waits.");
  return one;
}

async function lose(server: ApprovalsServer): Promise<string> {
  const { id } = first(await server.say("ana", "lose 1"));
  const path = `/v1/confirmations/${id}/decision?wait=30`;
  const { json } = await server.ask("ana", "POST", path, { confirmed: true });
  expect(json["status"]).toBe("unknown");
  return id;
}

describe("a cancellation", () => {
  test("withdraws the question; the same person again gets the stored withdrawal", async () => {
    const server = await startApprovalsServer(resources);
    const { id } = first(await server.say("ana", "transfer 5"));
    const path = `/v1/confirmations/${id}/cancellation`;
    const one = await server.ask("ana", "POST", path, { reason: "changed my mind" });
    expect(one.json).toMatchObject({ status: "cancelled", withdrawal: "changed my mind (withdrawn by ana)" });
    const two = await server.ask("ana", "POST", path);
    expect([two.status, two.json]).toEqual([200, one.json]);
    const other = await server.ask("meg", "POST", path, {});
    expect([other.status, other.json["code"]]).toEqual([409, "not-cancellable"]);
    expect((await server.ask("bob", "POST", path, {})).status).toBe(404);
  });

  test("comes too late once the call has ended", async () => {
    const server = await startApprovalsServer(resources);
    const { id } = first(await server.say("ana", "pay 5"));
    await server.ask("ana", "POST", `/v1/confirmations/${id}/decision?wait=30`, { confirmed: true });
    const { status, json } = await server.ask("ana", "POST", `/v1/confirmations/${id}/cancellation`, {});
    expect([status, json["code"]]).toEqual([409, "not-cancellable"]);
  });
});

describe("a settlement", () => {
  test("as succeeded gives the call its result; the same again gets the stored settlement", async () => {
    const server = await startApprovalsServer(resources);
    const id = await lose(server);
    const path = `/v1/confirmations/${id}/settlement`;
    const body = { as: "succeeded", result: { receipt: 7 } };
    const one = await server.ask("ana", "POST", path, body);
    expect(one.json).toMatchObject({ status: "succeeded", result: { receipt: 7 } });
    const two = await server.ask("ana", "POST", path, body);
    expect([two.status, two.json["status"]]).toEqual([200, "succeeded"]);
    const other = await server.ask("ana", "POST", path, { as: "failed", error: "no" });
    expect([other.status, other.json["code"]]).toEqual([409, "not-settleable"]);
    expect((await server.ask("bob", "POST", path, body)).status).toBe(404);
  });

  test("as retry, sent again after the call was lost once more, does not run it a third time", async () => {
    const server = await startApprovalsServer(resources);
    const id = await lose(server);
    const path = `/v1/confirmations/${id}/settlement`;
    const body = { as: "retry", attempt: 1 };
    expect((await server.ask("ana", "POST", path, body)).status).toBe(200);
    const { call } = (await server.engine.ledger.load({ confirmation: id })) ?? {};
    await server.engine.finished(call?.id ?? "");
    const again = await server.ask("ana", "POST", path, body);
    expect([again.status, again.json["status"]]).toEqual([200, "unknown"]);
    expect(server.done).toHaveLength(2);
    // Whoever still looks at the first loss has not looked at the second.
    const stale = await server.ask("ana", "POST", path, { as: "succeeded", result: 1, attempt: 1 });
    expect([stale.status, stale.json["code"]]).toEqual([412, "stale-version"]);
  });

  test("as retry, sent again under its key after the call was lost once more, does not run it a third time", async () => {
    const server = await startApprovalsServer(resources);
    const id = await lose(server);
    const path = `/v1/confirmations/${id}/settlement`;
    const key = { "idempotency-key": "k-1" };
    const one = await server.ask("ana", "POST", path, { as: "retry", attempt: 1 }, key);
    expect(one.status).toBe(200);
    const { call } = (await server.engine.ledger.load({ confirmation: id })) ?? {};
    await server.engine.finished(call?.id ?? "");
    expect(server.done).toHaveLength(2);
    const two = await server.ask("ana", "POST", path, { as: "retry", attempt: 1 }, key);
    expect([two.status, two.json["status"]]).toEqual([200, "unknown"]);
    expect(server.done).toHaveLength(2);
    const fresh = await server.ask(
      "ana",
      "POST",
      path,
      { as: "retry", attempt: 2 },
      { "idempotency-key": "k-2" },
    );
    expect(fresh.status).toBe(200);
    await server.engine.finished(call?.id ?? "");
    expect(server.done).toHaveLength(3);
  });

  test.each([
    [{ as: "done" }],
    [{ as: "succeeded" }],
    [{ as: "failed" }],
    [{ as: "retry", attempt: 1, result: 1 }],
    [{ as: "retry" }],
    [{ as: "retry", attempt: "1" }],
    [{}],
  ])("that reads %j is refused", async (body) => {
    const server = await startApprovalsServer(resources);
    const id = await lose(server);
    const { status, json } = await server.ask("ana", "POST", `/v1/confirmations/${id}/settlement`, body);
    expect([status, json["code"]]).toEqual([422, "malformed-request"]);
  });

  test("of a call that nobody was asked about goes by the call, which only its user and administrators see", async () => {
    const server = await startApprovalsServer(resources);
    await server.say("ana", "look 3");
    const { json } = await server.ask("ana", "GET", "/v1/unknown");
    const [call] = json["items"] as readonly JsonObject[];
    expect(call).toMatchObject({ tool: "look", user: "ana", status: "unknown", owner: { alive: true } });
    expect(call?.["args"]).toEqual({ amount: 3, pin: "[redacted]" });
    expect((await server.ask("bob", "GET", "/v1/unknown")).json["items"]).toEqual([]);
    expect((await server.ask("root", "GET", "/v1/unknown")).json["items"]).toHaveLength(1);
    const path = `/v1/calls/${encodeURIComponent(textOf(call?.["id"]))}/settlement`;
    const body = { as: "failed", error: "it never arrived" };
    expect((await server.ask("bob", "POST", path, body)).status).toBe(404);
    expect((await server.ask("root", "POST", path, body)).status).toBe(403);
    const settled = await server.ask("ana", "POST", path, body);
    expect(settled.json).toMatchObject({ status: "failed", result: { error: "it never arrived" } });
    expect((await server.ask("ana", "POST", path, body)).status).toBe(200);
    expect((await server.ask("ana", "GET", "/v1/unknown")).json["items"]).toEqual([]);
  });
});

describe("the context of a confirmation", () => {
  test("has the rest of the turn, earlier decisions, and what was said, without secrets", async () => {
    const server = await startApprovalsServer(resources);
    const old = first(await server.say("ana", "pay 1", "s-1"));
    await server.ask("ana", "POST", `/v1/confirmations/${old.id}/decision?wait=30`, { confirmed: true });
    await server.say("ana", "my word is hunter2, remember it", "s-1");
    const [, pay] = await server.say("ana", "login hunter2 and pay 5", "s-1");
    const { status, json } = await server.ask("ana", "GET", `/v1/confirmations/${pay?.id}/context`);
    expect(status).toBe(200);
    expect(json["turn"]).toMatchObject([{ tool: "login", args: { user: "ana", password: "[redacted]" } }]);
    expect(json["earlier"]).toMatchObject([{ id: old.id, status: "succeeded" }]);
    const said = json["conversation"] as readonly JsonObject[];
    expect(said.map(({ author, text }) => `${textOf(author)}: ${textOf(text)}`)).toEqual([
      "user: pay 1",
      "bank: done",
      "user: my word is [redacted], remember it",
      "bank: You said: my word is [redacted], remember it",
      "user: login [redacted] and pay 5",
    ]);
    expect(JSON.stringify(json)).not.toContain("hunter2");
  });

  test("is for those who may see the confirmation", async () => {
    const server = await startApprovalsServer(resources);
    const { id } = first(await server.say("ana", "transfer 5", "s-1"));
    expect((await server.ask("bob", "GET", `/v1/confirmations/${id}/context`)).status).toBe(404);
    const { json } = await server.ask("meg", "GET", `/v1/confirmations/${id}/context`);
    expect(json["conversation"]).toMatchObject([{ author: "user", text: "transfer 5" }]);
  });
});

test("returns who the caller is, and nothing more", async () => {
  const server = await startApprovalsServer(resources);
  const { json } = await server.ask("meg", "GET", "/v1/me");
  expect(json).toEqual({
    principal: {
      id: "meg",
      kind: "token",
      roles: ["manager"],
      scopes: ["run", "read", "decide"],
      authenticated: true,
    },
    auth: "host",
    apps: ["bank"],
    channels: [],
    examplePrompts: {},
  });
});

describe("the journal", () => {
  test("is for administrators, in pages, by session and by words", async () => {
    const server = await startApprovalsServer(resources);
    await server.say("ana", "pay 5", "s-1");
    await server.say("bob", "pay 6", "s-2");
    expect((await server.ask("ana", "GET", "/v1/audit")).status).toBe(403);
    const seen: unknown[] = [];
    for (let from = "after=0"; from !== "cursor="; ) {
      const { json } = await server.ask("root", "GET", `/v1/audit?limit=1&${from}`);
      seen.push(...(json["items"] as readonly JsonObject[]).map(({ kind }) => kind));
      from = `cursor=${textOf(json["next"])}`;
    }
    expect(seen).toEqual(["confirmation-requested", "confirmation-requested"]);
    const one = await server.ask("root", "GET", "/v1/audit?session=bank/bob/s-2");
    expect(one.json["items"]).toMatchObject([{ body: { user: "bob" } }]);
    const words = await server.ask("root", "GET", "/v1/audit?q=bob%20REQUESTED");
    expect(words.json["items"]).toHaveLength(1);
    expect((await server.ask("root", "GET", "/v1/audit?session=none")).status).toBe(404);
  });

  test("of one's own confirmation is for whoever may see it", async () => {
    const server = await startApprovalsServer(resources);
    const { id } = first(await server.say("ana", "pay 5"));
    await server.say("ana", "pay 6");
    await server.ask("ana", "POST", `/v1/confirmations/${id}/decision?wait=30`, { confirmed: true });
    const { json } = await server.ask("ana", "GET", `/v1/audit?confirmation=${id}`);
    const kinds = (json["items"] as readonly JsonObject[]).map(({ kind }) => kind);
    expect(kinds).toEqual(["confirmation-requested", "confirmation-approved", "call-succeeded"]);
    expect((await server.ask("bob", "GET", `/v1/audit?confirmation=${id}`)).status).toBe(404);
  });

  test("is verified for administrators", async () => {
    const server = await startApprovalsServer(resources);
    await server.say("ana", "pay 5");
    expect((await server.ask("ana", "GET", "/v1/audit/verify")).status).toBe(403);
    expect((await server.ask("root", "GET", "/v1/audit/verify")).json).toMatchObject({
      ok: true,
      records: 1,
    });
    const gone = await server.ask("root", "GET", "/v1/audit/verify?head=9:abc");
    expect(gone.json["ok"]).toBe(false);
  });
});

test("a method that an address does not take is answered 405, with those that it does", async () => {
  const server = await startApprovalsServer(resources);
  const { status, headers, json } = await server.ask("ana", "DELETE", "/v1/confirmations");
  expect([status, json["code"], headers.get("allow")]).toEqual([405, "method-not-allowed", "GET, HEAD"]);
});
