import { expect, test } from "vitest";
import type { Policy } from "../../../src/index.ts";
import { useResources } from "../../support/resources.ts";
import { type ApprovalsServer, startApprovalsServer } from "./approvals-server.ts";

const resources = useResources();

const mayGrant: Policy = () => ({
  outcome: "confirm",
  reason: "payments",
  grants: { forMs: 3_600_000, count: 5 },
});

/** A server where ana has granted two payments in her session. */
async function granted(): Promise<{ readonly server: ApprovalsServer; readonly grant: string }> {
  const server = await startApprovalsServer(resources, { engine: { policy: mayGrant } });
  const [asked] = await server.say("ana", "pay 5", "s1");
  const path = `/v1/confirmations/${asked?.id ?? ""}`;
  expect((await server.ask("ana", "GET", path)).json).toMatchObject({
    grants: { forMs: 3_600_000, count: 5 },
  });
  const tooMuch = await server.ask("ana", "POST", `${path}/decision`, {
    confirmed: true,
    grant: { count: 6 },
  });
  expect(tooMuch).toMatchObject({ status: 422, json: { code: "grant-refused", field: "grant" } });
  const odd = await server.ask("ana", "POST", `${path}/decision`, { confirmed: true, grant: 5 });
  expect(odd).toMatchObject({ status: 422, json: { code: "malformed-request" } });
  const given = await server.ask("ana", "POST", `${path}/decision`, { confirmed: true, grant: { count: 2 } });
  expect(given).toMatchObject({ status: 200, json: { decision: { grant: { count: 2 } } } });
  await atRest(server, asked?.id ?? "");
  const { json } = await server.ask("ana", "GET", "/v1/grants");
  const { items } = json as unknown as { readonly items: readonly { readonly id: string }[] };
  return { server, grant: items[0]?.id ?? "" };
}

/** The turn has gone on to its end. */
async function atRest({ engine }: ApprovalsServer, confirmation: string): Promise<void> {
  const session = (await engine.ledger.load({ confirmation }))?.session.key ?? "";
  await expect.poll(() => engine.ledger.liveFrames(session)).toEqual([]);
}

test("a granted call runs without a question, and the list says what is used and who gave it", async () => {
  const { server, grant } = await granted();
  expect(await server.say("ana", "pay 6", "s1")).toEqual([]);
  expect(server.done.map(({ args }) => args["amount"])).toEqual([5, 6]);
  const listed = await server.ask("ana", "GET", "/v1/grants");
  expect(listed.headers.get("cache-control")).toBe("no-store");
  expect(listed.json).toMatchObject({
    items: [{ id: grant, status: "active", tool: "pay", session: "s1", user: "ana", by: ["ana"], uses: 1 }],
  });
  expect((await server.ask("root", "GET", "/v1/grants")).json).toMatchObject({ items: [{ id: grant }] });
});

test("only those who may decide such a call, and administrators, see and revoke it", async () => {
  const { server, grant } = await granted();
  const path = `/v1/grants/${grant}/revoke`;
  for (const person of ["bob", "meg"]) {
    expect((await server.ask(person, "GET", "/v1/grants")).json).toEqual({ items: [] });
    expect(await server.ask(person, "POST", path, {})).toMatchObject({
      status: 404,
      json: { code: "unknown-grant" },
    });
  }
  expect(await server.ask("watcher", "POST", path, {})).toMatchObject({ status: 403 });
  expect(await server.ask("agent", "POST", path, {})).not.toMatchObject({ status: 200 });
  expect(await server.ask("bot", "GET", "/v1/grants")).toMatchObject({ status: 403 });
  expect(await server.ask("root", "POST", path, { reason: "enough" })).toMatchObject({
    status: 200,
    json: { id: grant, status: "revoked", revoked: { by: "root", reason: "enough" } },
  });
  expect(await server.ask("ana", "POST", path, {})).toMatchObject({ json: { revoked: { by: "root" } } });
  expect(await server.say("ana", "pay 7", "s1")).toMatchObject([{ tool: "pay" }]);
  expect((await server.ask("ana", "GET", "/v1/grants")).json).toEqual({ items: [] });
});
