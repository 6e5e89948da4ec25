import { expect, onTestFinished, test } from "vitest";
import { createEngine, type JsonObject, type PrincipalInput } from "../../index.ts";
import { createApp } from "../index.ts";

const scopes = ["read", "decide"];
const PEOPLE: { readonly [name: string]: PrincipalInput } = {
  ana: { id: "ana", kind: "token", scopes, authenticated: true },
  bob: { id: "bob", kind: "token", scopes, authenticated: true },
  carl: { id: "carl", kind: "token", scopes, authenticated: true },
  robot: { id: "ana", kind: "agent", scopes, authenticated: true },
  ops: { id: "ops", kind: "token", scopes: ["admin"], authenticated: true },
};

interface Answer {
  readonly status: number;
  readonly body: JsonObject;
}

async function openSite() {
  const engine = await createEngine({ ledger: "memory:" });
  onTestFinished(() => engine.close());
  const app = createApp({
    apps: {},
    engine,
    publicUrl: "https://sign.example",
    authenticate: (request) => PEOPLE[request.headers.get("x-as") ?? ""],
  });
  const send = async (as: string, path: string, body?: object): Promise<Answer> => {
    const response = await app.fetch(
      new Request(`https://sign.example${path}`, {
        method: body === undefined ? "GET" : "POST",
        headers: { "x-as": as, ...(body === undefined ? {} : { "content-type": "application/json" }) },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      }),
    );
    return { status: response.status, body: (await response.json()) as JsonObject };
  };
  const ask = async (tool: string): Promise<string> => {
    const approvers = { users: ["ana"], notRequester: true };
    const gate = engine.gate(tool, { requireConfirmation: true, approvers }, async () => "done");
    const outcome = await gate({}, { key: tool, by: { id: "rita" } });
    return outcome.status === "pending" ? outcome.confirmation.id : "";
  };
  const inbox = async (as: string, query = ""): Promise<readonly string[]> => {
    const { items } = (await send(as, `/v1/confirmations${query}`)).body;
    return (items as readonly { readonly tool: string }[]).map(({ tool }) => tool);
  };
  return { engine, send, ask, inbox };
}

const soon = (): string => new Date(Date.now() + 3_600_000).toISOString();

test("a delegate finds what they may decide in the inbox, within the scope, and decides it for the delegator", async () => {
  const { send, ask, inbox } = await openSite();
  const id = await ask("pay");
  const other = await ask("fire");
  expect(await inbox("bob")).toEqual([]);
  expect((await send("bob", `/v1/confirmations/${id}`)).status).toBe(404);
  const made = await send("ana", "/v1/delegations", { to: "bob", until: soon(), scope: { tool: ["pay*"] } });
  expect(made).toMatchObject({ status: 200, body: { from: "ana", to: "bob", scope: { tool: ["pay*"] } } });
  for (const query of ["", "?mine=decidable", "?tool=pay", "?app=gate:pay"])
    expect(await inbox("bob", query), query).toEqual(["pay"]);
  expect(await inbox("carl")).toEqual([]);
  expect(await inbox("bob", "?mine=true")).toEqual([]);
  expect((await send("bob", `/v1/confirmations/${other}`)).status).toBe(404);
  expect((await send("bob", `/v1/confirmations/${id}`)).body).toMatchObject({
    can: { decide: true, cancel: false, for: "ana" },
  });
  expect((await send("ana", `/v1/confirmations/${id}`)).body["can"]).not.toHaveProperty("for");
  const decided = await send("bob", `/v1/confirmations/${id}/decision?wait=10`, { confirmed: true });
  expect(decided).toMatchObject({ status: 200, body: { status: "succeeded", decision: { for: "ana" } } });
});

test("the same request again makes no second delegation; once it is revoked, the inbox is empty", async () => {
  const { send, ask, inbox } = await openSite();
  await ask("pay");
  const body = { to: "bob", until: soon() };
  const first = await send("ana", "/v1/delegations", body);
  expect(await send("ana", "/v1/delegations", body)).toEqual(first);
  expect((await send("bob", "/v1/delegations")).body["items"]).toHaveLength(1);
  expect((await send("ops", "/v1/delegations")).body["items"]).toHaveLength(1);
  expect((await send("carl", "/v1/delegations")).body["items"]).toEqual([]);
  expect(await inbox("bob")).toEqual(["pay"]);
  const path = `/v1/delegations/${first.body["id"] as string}/revocation`;
  expect(await send("carl", path, {})).toMatchObject({ status: 403 });
  expect(await send("ana", path, {})).toMatchObject({ status: 200 });
  expect(await send("ana", path, {})).toMatchObject({ status: 404, body: { code: "unknown-delegation" } });
  expect(await inbox("bob")).toEqual([]);
});

test("nobody delegates for others, but an operator; an agent never does", async () => {
  const { send } = await openSite();
  const wanted = { from: "ana", to: "carl", until: soon() };
  for (const who of ["bob", "carl", "robot"])
    expect(await send(who, "/v1/delegations", wanted), who).toMatchObject({ status: 403 });
  expect(await send("ops", "/v1/delegations", wanted)).toMatchObject({ status: 200, body: { from: "ana" } });
  for (const wrong of [
    { until: "tomorrow" },
    { scope: { tool: [] } },
    { scope: { user: ["a"] } },
    { more: 1 },
  ])
    expect(await send("ana", "/v1/delegations", { to: "bob", until: soon(), ...wrong })).toMatchObject({
      status: 422,
    });
});
