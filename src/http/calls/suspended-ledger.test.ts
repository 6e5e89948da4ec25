import { join } from "node:path";
import { expect, test } from "vitest";
import { useResources } from "../../../test/support/resources.ts";
import { suspendLedger } from "../../engine/index.ts";
import { createEngine, createLedger } from "../../index.ts";
import { createApp } from "../app.ts";

const resources = useResources();

function authenticate() {
  return { id: "ana", scopes: ["read", "propose"] as const };
}

/** A server without tenants, on this ledger. */
async function serve(ledger: string) {
  const engine = await createEngine({ ledger });
  resources.add(() => engine.close());
  const app = createApp({ apps: {}, engine, publicUrl: "https://one.test", authenticate });
  return async (path: string, body: object): Promise<{ status: number; body: unknown }> => {
    const headers = { host: "one.test", "content-type": "application/json" };
    const request = { method: "POST", headers, body: JSON.stringify(body) };
    const response = await app.fetch(new Request(`https://one.test/v1/calls${path}`, request));
    return { status: response.status, body: await response.json() };
  };
}

test("a server on a suspended ledger takes reports on calls that run, and lets none start", async () => {
  const url = `sqlite:${join(await resources.folder(), "ledger.db")}`;
  const post = await serve(url);
  const proofs = new Map<string, object>();
  for (const key of ["k1", "k2", "k3"])
    await post("", { app: "shop", tool: "pay", args: {}, key, requireConfirmation: false });
  for (const key of ["k1", "k2"]) {
    const { body } = await post(`/${key}/claim`, { leaseSeconds: 60 });
    const { token, attempt } = (body as { claim: { token: string; attempt: number } }).claim;
    proofs.set(key, { token, attempt });
  }
  const operator = await createLedger(url);
  resources.add(() => operator.close());
  await suspendLedger(operator.items, {});
  const later = await serve(url);
  for (const server of [post, later]) {
    const beat = { ...proofs.get("k1"), leaseSeconds: 60 };
    expect(await server("/k1/heartbeat", beat)).toMatchObject({ status: 200 });
    const started = await server("/k3/claim", { leaseSeconds: 60 });
    expect(started).toMatchObject({ status: 403, body: { code: "suspended" } });
  }
  const result = await post("/k1/result", { ...proofs.get("k1"), result: "paid" });
  expect(result).toMatchObject({ status: 200, body: { status: "succeeded", result: "paid" } });
  const failure = await later("/k2/failure", { ...proofs.get("k2"), error: "no money" });
  expect(failure).toMatchObject({ status: 200, body: { status: "failed" } });
});
