import { expect, onTestFinished, test } from "vitest";
import { createApp } from "../../http/index.ts";
import { createEngine, type JsonObject, type PrincipalInput } from "../../index.ts";
import { parsePolicy } from "../../policy/index.ts";
import { replayAtMost, replayPolicy } from "./replay-policy.ts";

const ASK = "rules: [{ id: pay, match: { tool: pay }, then: confirm, require: [{ from: 'user:ana' }] }]";
const LESS = ASK.replace("then:", "when: args.amount > 10.0, then:");

const PEOPLE: { readonly [name: string]: PrincipalInput } = {
  ana: { id: "ana", kind: "token", scopes: ["read", "decide"], authenticated: true },
  ops: { id: "ops", kind: "token", scopes: ["admin"], authenticated: true },
};

async function openSite(options: Pick<Parameters<typeof createApp>[0], "replay"> = { replay: replayPolicy }) {
  const engine = await createEngine({ ledger: "memory:", policy: parsePolicy("policy.yaml", ASK) });
  onTestFinished(() => engine.close());
  const pay = engine.gate("pay", {}, async () => "paid");
  const decide = async (amount: number, confirmed: boolean): Promise<string> => {
    const outcome = await pay({ amount }, { key: `k${amount}`, by: { id: "rita" } });
    const id = outcome.status === "pending" ? outcome.confirmation.id : "";
    const by = { id: "ana", kind: "token", authenticated: true, scopes: ["decide"] } as const;
    await (confirmed ? engine.approve(id, { by }) : engine.deny(id, { by }));
    return id;
  };
  const app = createApp({
    apps: {},
    engine,
    publicUrl: "https://sign.example",
    authenticate: (request) => PEOPLE[request.headers.get("x-as") ?? ""],
    ...options,
  });
  const replay = async (as: string, body: object): Promise<{ status: number; body: JsonObject }> => {
    const response = await app.fetch(
      new Request("https://sign.example/v1/policy/replay", {
        method: "POST",
        headers: { "x-as": as, "content-type": "application/json" },
        body: JSON.stringify(body),
      }),
    );
    return { status: response.status, body: (await response.json()) as JsonObject };
  };
  return { engine, decide, replay };
}

test("an administrator sees what a policy would have changed, and what people had decided", async () => {
  const { decide, replay } = await openSite();
  await decide(5, true);
  const denied = await decide(6, false);
  await decide(50, true);
  expect(await replay("ops", { policy: LESS })).toMatchObject({
    status: 200,
    body: {
      calls: 3,
      complete: true,
      stopsAsking: { count: 2, approved: 1, denied: 1, examples: [denied] },
      newlyAsks: { count: 0 },
      newlyDenies: { count: 0 },
    },
  });
  expect(await replay("ops", { policy: ASK, days: 7 })).toMatchObject({
    body: { stopsAsking: { count: 0 } },
  });
});

test.each([
  ["its server", "mcpServer: files"],
  ["its annotations", "annotations: { readOnlyHint: true }"],
])(
  "a rule that matches %s is judged of calls that were asked about, and of calls that ran",
  async (_, match) => {
    const { engine, replay } = await openSite();
    const options = {
      source: "files",
      place: "node server.js",
      annotations: { readOnlyHint: true },
      description: "Reads.",
    };
    const by = { id: "rita" };
    await engine.gate("read", options, async () => "read")({}, { key: "ran", by });
    await engine.gate(
      "look",
      { ...options, requireConfirmation: true },
      async () => "seen",
    )({}, { key: "asked", by });
    const policy = `rules: [{ id: no, match: { ${match} }, then: deny }]`;
    expect(await replay("ops", { policy })).toMatchObject({
      body: { calls: 2, newlyDenies: { count: 2 } },
    });
  },
);

test("of more calls than are judged at once, the newest are judged, and the answer says from when on", async () => {
  const { decide, replay } = await openSite({ replay: replayAtMost(2) });
  await decide(1, false);
  const second = await decide(2, true);
  await decide(3, true);
  const { body } = await replay("ops", { policy: LESS });
  expect(body).toMatchObject({
    calls: 2,
    complete: false,
    stopsAsking: { count: 2, approved: 2, denied: 0 },
  });
  expect(Date.parse(body["judgedFrom"] as string)).toBeGreaterThan(Date.now() - 3_600_000);
  expect((body["stopsAsking"] as JsonObject)["examples"]).toContain(second);
});

test("nobody else replays: the answer tells of everybody's calls", async () => {
  const { replay } = await openSite();
  expect(await replay("ana", { policy: ASK })).toMatchObject({ status: 403, body: { code: "forbidden" } });
  expect(await replay("nobody", { policy: ASK })).toMatchObject({ status: 401 });
});

test("what is wrong with the policy, or the request, is named", async () => {
  const { replay } = await openSite();
  const wrong = await replay("ops", { policy: "rules: [{ id: a, when: 'args.x +', then: confirm }]" });
  expect(wrong.status).toBe(422);
  expect(wrong.body).toMatchObject({ code: "malformed-request", field: "policy" });
  expect(wrong.body["detail"]).toContain("policy.yaml:1:");
  for (const body of [{}, { policy: "" }, { policy: ASK, days: 0 }, { policy: ASK, since: "1d" }])
    expect((await replay("ops", body)).status).toBe(422);
});

test("one policy is replayed at a time", async () => {
  const gate = Promise.withResolvers<void>();
  const entered = Promise.withResolvers<void>();
  const { replay } = await openSite({
    replay: async (ledger, request) => {
      entered.resolve();
      await gate.promise;
      return replayPolicy(ledger, request);
    },
  });
  const first = replay("ops", { policy: ASK });
  await entered.promise;
  expect(await replay("ops", { policy: ASK })).toMatchObject({ status: 429, body: { code: "rate-limited" } });
  gate.resolve();
  expect((await first).status).toBe(200);
  expect((await replay("ops", { policy: ASK })).status).toBe(200);
});

test("a server whose host cannot replay says so", async () => {
  const { replay } = await openSite({});
  expect(await replay("ops", { policy: ASK })).toMatchObject({
    status: 404,
    body: { code: "unknown-route" },
  });
});
