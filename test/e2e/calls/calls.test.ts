import { expect, test } from "vitest";
import type { JsonObject } from "../../../src/protocol/index.ts";
import { useResources } from "../../support/resources.ts";
import {
  type Answer,
  type ApprovalsServer,
  startApprovalsServer,
  textOf,
} from "../approvals/approvals-server.ts";

const resources = useResources();
const CALL = { key: "order/17 ü", app: "shop", tool: "refund", args: { amount: 40 } };
const AT = `/v1/calls/${encodeURIComponent(CALL.key)}`;

async function propose(server: ApprovalsServer, more: JsonObject = {}, as = "bot"): Promise<Answer> {
  return server.ask(as, "POST", "/v1/calls", { ...CALL, ...more });
}

function confirmationOf({ json }: Answer): string {
  return textOf((json["confirmation"] as JsonObject | undefined)?.["id"]);
}

async function decide(
  server: ApprovalsServer,
  asked: Answer,
  body: JsonObject = { confirmed: true },
): Promise<void> {
  const path = `/v1/confirmations/${confirmationOf(asked)}/decision`;
  expect(await server.ask("meg", "POST", path, body)).toMatchObject({ status: 200 });
}

async function claim(server: ApprovalsServer): Promise<JsonObject> {
  const { status, json } = await server.ask("bot", "POST", `${AT}/claim`, {});
  expect(status).toBe(200);
  const { token, attempt } = json["claim"] as JsonObject;
  return { token: token ?? "", attempt: attempt ?? 0 };
}

test("a program asks, a person approves, the program claims, runs and reports it", async () => {
  const server = await startApprovalsServer(resources);
  const asked = await propose(server, { hint: "Refund 40 EUR?", deadline: "2999-01-01T00:00:00Z" });
  expect(asked).toMatchObject({ status: 200, json: { status: "pending", key: CALL.key } });
  const waiting = server.ask("bot", "GET", `${AT}?wait=30`);
  await decide(server, asked);
  expect((await waiting).json).toMatchObject({ status: "allowed" });
  const proof = await claim(server);
  expect(await server.ask("bot", "POST", `${AT}/heartbeat`, { ...proof, leaseSeconds: 30 })).toMatchObject({
    status: 200,
    json: { status: "executing" },
  });
  const report = { ...proof, result: { refunded: 40 } };
  const first = await server.ask("bot", "POST", `${AT}/result`, report);
  expect(first).toMatchObject({ status: 200, json: { status: "succeeded", result: { refunded: 40 } } });
  expect((await server.ask("bot", "POST", `${AT}/result`, report)).json).toEqual(first.json);
  // The inbox shows it like any other.
  const { json } = await server.ask("meg", "GET", `/v1/confirmations/${confirmationOf(asked)}`);
  expect(json).toMatchObject({ status: "succeeded", app: "shop", tool: "refund", requesters: ["bot"] });
});

test("a denial, an amendment and a failure reach the program", async () => {
  const server = await startApprovalsServer(resources);
  await decide(server, await propose(server, { key: "no" }), { confirmed: false, reason: "fraud" });
  expect((await server.ask("bot", "GET", "/v1/calls/no")).json).toMatchObject({
    status: "denied",
    reason: "fraud",
  });
  const asked = await propose(server, { amendable: ["amount"] });
  await decide(server, asked, { confirmed: true, args: { amount: 20 } });
  const { json } = await server.ask("bot", "POST", `${AT}/claim`, {});
  expect(json).toMatchObject({ amended: true, claim: { args: { amount: 20 } } });
  const { token, attempt } = json["claim"] as JsonObject;
  const failed = await server.ask("bot", "POST", `${AT}/failure`, {
    token: token ?? "",
    attempt: attempt ?? 0,
    error: "declined",
  });
  expect(failed.json).toMatchObject({ status: "failed", error: "declined" });
});

test("a call for somebody needs act-as, and then both count as the requester", async () => {
  const server = await startApprovalsServer(resources);
  expect(await propose(server, { user: "ana" })).toMatchObject({ status: 403 });
  const asked = await propose(server, { user: "ana" }, "proxy");
  expect(asked.json["confirmation"]).toMatchObject({ requesters: ["proxy", "ana"], user: "ana" });
});

test("what was approved for one user is not another's under the same key", async () => {
  const server = await startApprovalsServer(resources);
  await decide(server, await propose(server, { user: "ana", approvers: { users: ["meg"] } }, "proxy"));
  expect(await propose(server, { user: "ana" }, "proxy")).toMatchObject({ json: { status: "allowed" } });
  for (const more of [{ user: "bob" }, {}])
    expect(await propose(server, more, "proxy")).toMatchObject({ status: 422, json: { code: "key-reused" } });
});

// Each must be refused and change nothing.
const ATTACKS: readonly (readonly [string, (server: ApprovalsServer) => Promise<Answer>, number])[] = [
  ["a token without propose asks", (server) => propose(server, { key: "x" }, "ana"), 403],
  ["a token without propose reads", (server) => server.ask("ana", "GET", AT), 403],
  ["another program reads", (server) => server.ask("bot2", "GET", AT), 404],
  ["another program claims", (server) => server.ask("bot2", "POST", `${AT}/claim`, {}), 404],
  ["it is claimed before it is approved", (server) => server.ask("bot", "POST", `${AT}/claim`, {}), 409],
  [
    "the program approves its own call",
    async (server) => {
      const asked = await propose(server);
      return server.ask("bot", "POST", `/v1/confirmations/${confirmationOf(asked)}/decision`, {
        confirmed: true,
      });
    },
    403,
  ],
  ["the arguments change under the key", (server) => propose(server, { args: { amount: 4_000 } }), 422],
  ["the tool changes under the key", (server) => propose(server, { tool: "charge" }), 422],
  ["a misspelt member", (server) => propose(server, { key: "x", aprovers: "requester" }), 422],
  ["approvers that allow nobody", (server) => propose(server, { key: "x", approvers: {} }), 422],
  [
    "a deadline that has passed",
    (server) => propose(server, { key: "x", deadline: "2001-01-01T00:00:00Z" }),
    422,
  ],
  [
    "a result without a claim",
    (server) => server.ask("bot", "POST", `${AT}/result`, { token: "a.b", attempt: 1, result: 1 }),
    409,
  ],
  [
    "a heartbeat of an attempt that never was",
    (server) => server.ask("bot", "POST", `${AT}/heartbeat`, { token: "a.b", attempt: 9 }),
    409,
  ],
];

test.each(ATTACKS)("%s: refused, and nothing changes", async (_what, attack, status) => {
  const server = await startApprovalsServer(resources);
  const asked = await propose(server);
  expect(await attack(server)).toMatchObject({ status });
  const { json } = await server.ask("bot", "GET", AT);
  expect(json).toMatchObject({ id: asked.json["id"], status: "pending", args: CALL.args, attempt: 0 });
  expect(await server.engine.pending()).toHaveLength(1);
});

test("a stale attempt and another call's claim report nothing", async () => {
  const server = await startApprovalsServer(resources);
  await decide(server, await propose(server, { key: "other" }));
  const { json } = await server.ask("bot", "POST", "/v1/calls/other/claim", {});
  const { token, attempt } = json["claim"] as JsonObject;
  await decide(server, await propose(server));
  await claim(server);
  const stolen = { token: token ?? "", attempt: attempt ?? 0, result: 1 };
  expect(await server.ask("bot", "POST", `${AT}/result`, stolen)).toMatchObject({
    status: 409,
    json: { code: "claim-lost" },
  });
  expect((await server.ask("bot", "GET", AT)).json).toMatchObject({ status: "executing" });
});

test.each([
  ["result", { result: 1 }],
  ["failure", { error: "no" }],
  ["heartbeat", {}],
] as const)("another program's %s with a stolen claim changes nothing", async (what, body) => {
  const server = await startApprovalsServer(resources);
  await decide(server, await propose(server));
  const { json } = await server.ask("bot", "POST", `${AT}/claim`, {});
  const { token = "", attempt = 0 } = json["claim"] as JsonObject;
  const stolen = { token, attempt, ...body };
  expect(await server.ask("bot2", "POST", `${AT}/${what}`, stolen)).toMatchObject({ status: 404 });
  expect((await server.ask("bot", "GET", AT)).json).toMatchObject({ status: "executing", attempt: 1 });
});
