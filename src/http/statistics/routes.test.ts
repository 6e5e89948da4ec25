import { afterEach, expect, test } from "vitest";
import { createEngine, createLedger } from "../../index.ts";
import { createApp } from "../app.ts";
import type { Scope } from "../scopes.ts";

const releases: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const release of releases.splice(0)) await release();
});

/** A server on which boss approved one payment of ana's, and another waits. */
async function serveDecided() {
  const engine = await createEngine({ ledger: await createLedger("memory:") });
  releases.push(() => engine.close());
  const pay = engine.gate("pay", { requireConfirmation: true }, async (_args: { to: string }) => "paid");
  const ask = async (key: string): Promise<string> => {
    const outcome = await pay({ to: "secret-account" }, { key, by: { id: "ana" } });
    return outcome.status === "pending" ? outcome.confirmation.id : "";
  };
  await engine.approve(await ask("one"), { by: { id: "boss" } });
  await ask("two");
  return (id: string, ...scopes: readonly Scope[]) =>
    async (query = ""): Promise<readonly [number, Record<string, unknown>]> => {
      const app = createApp({ apps: {}, engine, authenticate: () => ({ id, kind: "oidc", scopes }) });
      const answer = await app.fetch(new Request(`http://localhost/v1/stats${query}`));
      return [answer.status, (await answer.json()) as Record<string, unknown>];
    };
}

test("who may read the metrics sees everybody's numbers, and no argument", async () => {
  const as = await serveDecided();
  for (const scope of ["metrics", "admin"] as const) {
    const [status, found] = await as("ops", scope)();
    expect([status, found["of"]]).toEqual([200, "everybody"]);
    expect(found).toMatchObject({ total: { asked: 2, approved: 1 }, waiting: { count: 1 } });
    expect(found["approvers"]).toMatchObject([{ approver: "boss" }]);
    expect(JSON.stringify(found)).not.toContain("secret-account");
  }
});

test("everyone else sees their own decisions, and learns of no other app, tool or person", async () => {
  const as = await serveDecided();
  const [, boss] = await as("boss", "decide")();
  expect(boss).toMatchObject({ of: "own", total: { approved: 1 }, tools: [{ tool: "pay" }] });
  const [status, max] = await as("max", "read", "decide")();
  expect([status, max["of"]]).toEqual([200, "own"]);
  expect(JSON.stringify(max)).not.toMatch(/pay|boss|ana|asked/);
  expect(max["waiting"]).toMatchObject({ count: 0 });
  expect((await as("max", "run")())[0]).toBe(403);
});

test("a period that is no number of days, or too long, is refused", async () => {
  const stats = (await serveDecided())("ops", "admin");
  for (const days of ["0", "91", "x", "1.5", "-1"]) expect((await stats(`?days=${days}`))[0]).toBe(422);
  expect((await stats("?days=7"))[1]["days"]).toHaveLength(7);
});
