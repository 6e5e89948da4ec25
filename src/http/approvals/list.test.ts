import { expect, test } from "vitest";
import { ManualClock } from "../../engine/index.ts";
import { createEngine, createLedger } from "../../index.ts";
import { createApp } from "../app.ts";

test("what is over is listed by who decided it, and by when it was asked", async () => {
  const clock = new ManualClock(Date.UTC(2026, 0, 1));
  const engine = await createEngine({ ledger: await createLedger("memory:", { clock }), clock });
  const pay = engine.gate("pay", { requireConfirmation: true }, async () => "paid");
  for (const by of ["boss", "zoe", "boss"]) {
    const outcome = await pay({}, { key: `${clock.now()}`, by: { id: "ana" } });
    if (outcome.status === "pending") await engine.deny(outcome.confirmation.id, { by: { id: by } });
    await clock.advance(86_400_000);
  }
  const app = createApp({ apps: {}, engine });
  const list = async (query: string): Promise<readonly unknown[] | number> => {
    const answer = await app.fetch(new Request(`http://localhost/v1/confirmations?status=denied&${query}`));
    const { items } = (await answer.json()) as {
      readonly items?: readonly { readonly requestedAt: string }[];
    };
    return items?.map(({ requestedAt }) => Number(requestedAt.slice(8, 10))) ?? answer.status;
  };
  expect(await list("")).toEqual([3, 2, 1]);
  expect(await list("decidedBy=boss")).toEqual([3, 1]);
  expect(await list("decidedBy=nobody")).toEqual([]);
  expect(await list("since=2026-01-02T00:00:00Z")).toEqual([3, 2]);
  expect(await list("since=2026-01-02T00:00:00Z&until=2026-01-03T00:00:00Z")).toEqual([2]);
  expect(await list("since=yesterday")).toBe(422);
  await engine.close();
});
