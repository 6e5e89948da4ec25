import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { useResources } from "../../../test/support/resources.ts";
import { createLedger } from "../../stores/index.ts";
import { Engine } from "../engine.ts";
import { TenantRegistry } from "./registry.ts";

const resources = useResources();
const acting = { by: { id: "olga" }, via: "test" };
const acme = { name: "acme", ledger: "sqlite:/data/acme.db" };

async function open(url?: string) {
  const at = url ?? `sqlite:${join(await resources.folder(), "registry.db")}`;
  const engine = new Engine({ ledger: await createLedger(at) });
  resources.add(() => engine.close());
  return { engine, url: at, registry: new TenantRegistry(engine) };
}

test("a tenant goes through its states, and the journal tells who did what", async () => {
  const { engine, registry } = await open();
  await registry.add({ ...acme, limits: { pending: 5 } }, acting);
  await registry.move("acme", { from: ["creating"], to: "active", ...acting });
  await registry.move("acme", { from: ["active"], to: "suspending", ...acting, reason: "unpaid" });
  expect(await registry.all()).toMatchObject([
    { ...acme, state: "suspending", limits: { pending: 5 }, version: 3 },
  ]);
  const records = await engine.ledger.journal.records({ after: 0, limit: 10 });
  expect(records.map(({ kind, body }) => [kind, body])).toMatchObject([
    ["tenant-changed", { tenant: "acme", to: "creating", by: { id: "olga" } }],
    ["tenant-changed", { tenant: "acme", from: "creating", to: "active" }],
    ["tenant-changed", { tenant: "acme", from: "active", to: "suspending", reason: "unpaid" }],
  ]);
  expect((await engine.verify()).ok).toBe(true);
});

test("a state that it cannot come from is refused with the one it has, and one that it has changes nothing", async () => {
  const { registry } = await open();
  await registry.add(acme, acting);
  await registry.move("acme", { from: ["creating"], to: "active", ...acting });
  const erase = registry.move("acme", { from: ["suspended"], to: "erasing", ...acting });
  await expect(erase).rejects.toMatchObject({ code: "forbidden", details: { state: "active" } });
  const again = await registry.move("acme", { from: ["creating"], to: "active", ...acting });
  expect(again.version).toBe(2);
});

test("of two processes that change a tenant at once, the second is judged by what the first left", async () => {
  const { registry, url } = await open();
  const { registry: other } = await open(url);
  await registry.add(acme, acting);
  const moves = await Promise.allSettled([
    registry.move("acme", { from: ["creating"], to: "active", ...acting }),
    other.move("acme", { from: ["creating"], to: "erased", ...acting }),
  ]);
  expect(moves.map(({ status }) => status).toSorted()).toEqual(["fulfilled", "rejected"]);
  expect((await registry.get("acme")).version).toBe(2);
});

test("a name is used once, and must fit into host names, paths and file names", async () => {
  const { registry } = await open();
  await registry.add(acme, acting);
  await expect(registry.add(acme, acting)).rejects.toMatchObject({ code: "malformed-request" });
  for (const name of ["", "Acme", "a/b", "..", "-a", "a.b", "x".repeat(64)])
    await expect(registry.add({ ...acme, name }, acting)).rejects.toMatchObject({
      code: "malformed-request",
    });
  await expect(registry.get("globex")).rejects.toMatchObject({ code: "unknown-tenant" });
});

test("another process is told of a change", async () => {
  const { registry, url } = await open();
  const { registry: other } = await open(url);
  const told = vi.fn<() => void>();
  other.onChange(told);
  await registry.add(acme, acting);
  await vi.waitFor(() => expect(told).toHaveBeenCalled());
});
