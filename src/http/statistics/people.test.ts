import { expect, test } from "vitest";
import { useResources } from "../../../test/support/resources.ts";
import { Engine, ManualClock, type PolicySource } from "../../engine/index.ts";
import { Agent, createLedger, Runner } from "../../index.ts";
import { scripted } from "../../models/scripted/index.ts";
import { createApp } from "../app.ts";

const resources = useResources();
const LEASE_MS = 60_000;

/** Takes the two logins of rita for one person. */
const ONE_PERSON: PolicySource = {
  judge: () => undefined,
  version: "1",
  text: "",
  group: () => undefined,
  person: (id) => (id === "rita@sso" ? "rita" : id),
  logins: (id) => (id.startsWith("rita") ? ["rita", "rita@sso"] : [id]),
};

/** Two apps on one ledger, of which only the policy of the second knows who rita is. */
async function serveTwoApps() {
  const clock = new ManualClock();
  const ledger = await createLedger("memory:", { clock });
  const plain = new Engine({ ledger, clock });
  const knowing = new Engine({ ledger, clock, policy: ONE_PERSON });
  resources.add(() => plain.close());
  const agent = new Agent({ name: "helper", model: scripted(() => "Hello") });
  const apps = {
    first: new Runner({ agent, app: "first", engine: plain }),
    known: new Runner({ agent, app: "known", engine: knowing }),
  };
  const get = async (id: string, path: string): Promise<unknown> => {
    const app = createApp({ apps, authenticate: () => ({ id, scopes: ["read", "decide"] }) });
    return (await app.fetch(new Request(`http://localhost${path}`))).json();
  };
  return { clock, knowing, plain, get };
}

const call = (app: string, key: string) => ({ app, key, tool: "pay", args: {}, by: { id: "rita@sso" } });

test("what waits is counted by the policy of its own app", async () => {
  const { knowing, plain, get } = await serveTwoApps();
  await knowing.callers.propose({ ...call("known", "k1"), requireConfirmation: true });
  await plain.callers.propose({ ...call("first", "k2"), requireConfirmation: true });
  expect(await get("rita", "/v1/stats")).toMatchObject({ waiting: { count: 1 } });
  expect(await get("rita@sso", "/v1/stats")).toMatchObject({ waiting: { count: 2 } });
  expect(await get("eve", "/v1/stats")).toMatchObject({ waiting: { count: 0 } });
});

test("unknown calls are listed by the policy of their own app", async () => {
  const { clock, knowing, plain, get } = await serveTwoApps();
  for (const [engine, app] of [
    [knowing, "known"],
    [plain, "first"],
  ] as const) {
    await engine.callers.propose({ ...call(app, app), requireConfirmation: false });
    await engine.callers.claim({ key: app, by: "rita@sso" }, { leaseMs: LEASE_MS });
  }
  await clock.advance(LEASE_MS);
  await plain.work({ once: true });
  expect(await get("rita@sso", "/v1/unknown")).toMatchObject({ items: [{}, {}] });
  expect(await get("rita", "/v1/unknown")).toMatchObject({ items: [{ app: "known" }] });
  expect(await get("eve", "/v1/unknown")).toEqual({ items: [] });
});
