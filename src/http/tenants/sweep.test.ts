import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { useResources } from "../../../test/support/resources.ts";
import { startDeliveries, type Told } from "../../channels/index.ts";
import { createEngine } from "../../index.ts";
import { createApp } from "../app.ts";
import { createTenants } from "./tenants.ts";

const resources = useResources();

test("a tenant that only the sweep opened stays open until its messages are sent", async () => {
  const folder = await resources.folder();
  const ledgerOf = (name: string): string => `sqlite:${join(folder, `${name}.db`)}`;
  const sent = Promise.withResolvers<Told>();
  const begun: string[] = [];
  const closes: string[] = [];
  const channel = {
    name: "pager",
    tell: ({ type }: { readonly type: string }) => {
      begun.push(type);
      return sent.promise;
    },
  };
  // A channel that was there before the question: it tells of what comes after its beginning.
  const first = await createEngine({ ledger: ledgerOf("a") });
  await first.ledger.outbox.channelPlace("pager");
  const pay = first.gate("pay", { requireConfirmation: true, expiresInMs: 1 }, async () => "paid");
  await pay({}, { key: "k", by: { id: "ana" } });
  await first.close();
  const tenants = createTenants({
    tenantOf: () => undefined,
    names: () => ["a", "b"],
    sweepMs: 20,
    idleMs: 1,
    open: async (name) => {
      const engine = await createEngine({ ledger: ledgerOf(name) });
      const deliveries = startDeliveries({ ledger: engine.ledger, channels: [channel] });
      return {
        engine,
        app: createApp({ apps: {}, engine, authenticate: () => ({ id: "ana" }) }),
        close: async () => {
          closes.push(name);
          await deliveries.stop();
        },
      };
    },
  });
  resources.add(() => tenants.close());
  await vi.waitFor(() => expect(begun).not.toEqual([]), 10_000);
  // Another one comes and goes meanwhile.
  await vi.waitFor(() => expect(closes).toContain("b"), 10_000);
  expect(closes).not.toContain("a");
  sent.resolve({ ok: true });
  await vi.waitFor(() => expect(closes).toContain("a"), 20_000);
});
