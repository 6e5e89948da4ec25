import { afterEach, expect, test, vi } from "vitest";
import { Agent, Runner } from "../../index.ts";
import { createApp } from "../app.ts";

afterEach(() => {
  vi.useRealTimers();
});

test("a machine whose clock is set back keeps nobody waiting", async () => {
  vi.useFakeTimers({ toFake: ["Date"] });
  const runner = new Runner({ agent: new Agent({ name: "shop" }), ledger: "memory:" });
  const app = createApp({
    apps: { shop: runner },
    authenticate: () => ({ id: "ana" }),
    limits: { requestsPerMinute: 2 },
  });
  const get = async () => (await app.fetch(new Request("http://localhost/list-apps"))).status;
  expect(await get()).toBe(200);
  vi.setSystemTime(Date.now() - 3_600_000);
  expect(await get()).toBe(200);
  expect(await get()).toBe(429);
});
