import { expect, test } from "vitest";
import { useResources } from "../../test/support/resources.ts";
import { type Ledger, ManualClock, type Principal } from "../engine/index.ts";
import { createLedger } from "../stores/index.ts";
import type { Told } from "./channel.ts";
import type { Serve } from "./inbound.ts";
import { NO_ADDRESS, testRoute } from "./test-route.ts";

const resources = useResources();
const MINUTE_MS = 60_000;
const POST = { method: "POST", headers: new Headers(), body: new Uint8Array() };

function person(id: string, over: Partial<Principal> = {}): Principal {
  return { id, kind: "oidc", roles: [], scopes: ["decide"], authenticated: true, ...over };
}

interface Scene {
  readonly clock: ManualClock;
  readonly ledger: Ledger;
  readonly route: Serve;
  /** To whom it was sent. */
  readonly sent: (string | undefined)[];
}

async function createScene(told: Told = { ok: true }): Promise<Scene> {
  const clock = new ManualClock();
  const ledger = await createLedger("memory:", { clock });
  resources.add(() => ledger.close());
  const sent: (string | undefined)[] = [];
  const sendTest = async (_signal: AbortSignal, only?: string): Promise<Told> => {
    sent.push(only);
    return told;
  };
  return { clock, ledger, sent, route: testRoute({ ledger, name: "email" }, sendTest) };
}

test("a test message goes to whoever asks for it, and to nobody else, once a minute", async () => {
  const { route, sent, clock } = await createScene();
  expect(await route(POST, person("ana"))).toEqual({ status: 200, json: { ok: true } });
  await expect(route(POST, person("ana"))).rejects.toMatchObject({ code: "rate-limited" });
  expect(await route(POST, person("bob"))).toMatchObject({ json: { ok: true } });
  await clock.advance(MINUTE_MS);
  await route(POST, person("ana"));
  expect(sent).toEqual(["ana", "bob", "ana"]);
});

test("of many requests at once one sends", async () => {
  const { route, sent } = await createScene();
  const answers = await Promise.allSettled(Array.from({ length: 5 }, () => route(POST, person("ana"))));
  expect(answers.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
  expect(sent).toEqual(["ana"]);
});

test("programs, people who decide nothing, and other methods send nothing", async () => {
  const { route, sent } = await createScene();
  for (const who of [person("bot", { kind: "agent" }), person("eve", { scopes: ["read"] })])
    await expect(route(POST, who)).rejects.toMatchObject({ code: "forbidden" });
  await expect(route({ ...POST, method: "GET" }, person("ana"))).rejects.toMatchObject({
    code: "method-not-allowed",
  });
  expect(sent).toEqual([]);
});

test("why it was not sent is for administrators; that somebody has no address is for them", async () => {
  const { route } = await createScene({ ok: false, reason: "smtp.internal answered 535." });
  const told = JSON.stringify(await route(POST, person("ana")));
  expect(told).not.toContain("smtp.internal");
  expect(told).toContain("channels test");
  expect(JSON.stringify(await route(POST, person("adam", { scopes: ["decide", "admin"] })))).toContain("535");
  const nobody = await createScene(NO_ADDRESS);
  expect(JSON.stringify(await nobody.route(POST, person("ana")))).toContain("You cannot be reached there");
});
