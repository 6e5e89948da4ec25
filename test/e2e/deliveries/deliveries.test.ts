import { expect, test } from "vitest";
import { createClient } from "../../../src/client/index.ts";
import { type Ledger, MessageBook } from "../../../src/engine/index.ts";
import { giveUp, requestsIn } from "../../support/ledger/failed-delivery.ts";
import { useResources } from "../../support/resources.ts";
import { type ApprovalsServer, startApprovalsServer, textOf } from "../approvals/approvals-server.ts";

const resources = useResources();

interface OpenDeliveries {
  readonly server: ApprovalsServer;
  readonly ledger: Ledger;
  /** The records of two questions. */
  readonly seqs: readonly number[];
  readonly ids: readonly string[];
}

/** Two questions about which a channel that no process has could tell nobody. */
async function openDeliveries(): Promise<OpenDeliveries> {
  const server = await startApprovalsServer(resources);
  const asked = await server.say("ana", "login x and pay 5", "s-1");
  const { ledger } = server.engine;
  const seqs = await requestsIn(ledger);
  await giveUp(ledger, { channel: "pager/eu", seqs, reason: "HTTP 410: gone" });
  return { server, ledger, seqs, ids: asked.map(({ id }) => id) };
}

function retryPath(sequence: number, channel = "pager/eu"): string {
  return `/v1/deliveries/${encodeURIComponent(channel)}/${sequence}/retry`;
}

test("administrators see failed deliveries, what they were about and why, page by page", async () => {
  const { server, seqs, ids } = await openDeliveries();
  const first = await server.ask("root", "GET", "/v1/deliveries?limit=1");
  expect(first).toMatchObject({ status: 200 });
  expect(first.headers.get("cache-control")).toBe("no-store");
  expect(first.json).toEqual({
    items: [
      {
        channel: "pager/eu",
        sequence: seqs[0],
        kind: "confirmation-requested",
        confirmation: ids[0],
        call: expect.any(String) as string,
        tool: "login",
        attempts: 1,
        since: expect.stringMatching(/^20.*Z$/) as string,
        failedAt: expect.stringMatching(/^20.*Z$/) as string,
        reason: "HTTP 410: gone",
      },
    ],
    next: expect.any(String) as string,
  });
  const cursor = encodeURIComponent(textOf(first.json["next"]));
  const rest = await server.ask("root", "GET", `/v1/deliveries?limit=1&cursor=${cursor}`);
  expect(rest.json).toMatchObject({ items: [{ sequence: seqs[1], tool: "pay" }] });
  expect(rest.json["next"]).toBeUndefined();
});

test("nobody else does, nor sends anything again", async () => {
  const { server, ledger, seqs } = await openDeliveries();
  for (const person of ["ana", "meg", "watcher", "agent"]) {
    expect(await server.ask(person, "GET", "/v1/deliveries")).toMatchObject({ status: 403 });
    expect(await server.ask(person, "POST", retryPath(seqs[0] ?? 0), {})).toMatchObject({ status: 403 });
  }
  expect((await ledger.outbox.deadDeliveries()).items).toHaveLength(2);
});

test("a retried delivery is sent like a new one and is no longer listed as failed", async () => {
  const { server, ledger, seqs } = await openDeliveries();
  const [seq = 0, other] = seqs;
  const answer = await server.ask("root", "POST", retryPath(seq), {});
  expect(answer).toMatchObject({ status: 200, json: { sequence: seq, attempts: 1 } });
  const due = await ledger.outbox.takeDeliveries("pager/eu", { limit: 10, holdMs: 1_000 });
  expect(due).toMatchObject([{ seq, attempt: 1 }]);
  expect((await ledger.outbox.deadDeliveries()).items.map((dead) => dead.seq)).toEqual([other]);
  for (const path of [retryPath(seq), retryPath(seq, "webhook"), retryPath(99_999)]) {
    const refused = await server.ask("root", "POST", path, {});
    expect(refused).toMatchObject({ status: 404, json: { code: "unknown-delivery" } });
  }
});

test("under one key it is one request: answered the same again, also once it has arrived", async () => {
  const { server, ledger, seqs } = await openDeliveries();
  const [seq = 0, other = 0] = seqs;
  const key = { "idempotency-key": "again-1" };
  const answers = await Promise.all([1, 2, 3].map(() => server.ask("root", "POST", retryPath(seq), {}, key)));
  for (const answer of answers) expect([answer.status, answer.json["sequence"]]).toEqual([200, seq]);
  const due = await ledger.outbox.takeDeliveries("pager/eu", { limit: 10, holdMs: 1_000 });
  expect(due.map((delivery) => delivery.seq)).toEqual([seq]);
  for (const delivery of due) await ledger.outbox.endDelivery(delivery, { as: "delivered" });
  expect(await server.ask("root", "POST", retryPath(seq), {}, key)).toMatchObject({
    status: 200,
    json: answers[0]?.json ?? {},
  });
  expect(await ledger.outbox.nextDeliveryAt("pager/eu")).toBeUndefined();
  // Sent about another message it is another request.
  expect((await server.ask("root", "POST", retryPath(other), {}, key)).json["sequence"]).toBe(other);
});

test("what was about a session that was erased is still listed, without what it was about", async () => {
  const { server, ledger } = await openDeliveries();
  for (const { confirmation } of (await ledger.confirmations({ state: "open" })).items)
    await server.engine.deny(confirmation.id, { by: { id: "ana" } });
  await server.engine.work({ once: true });
  expect((await server.ask("ana", "DELETE", "/apps/bank/users/ana/sessions/s-1")).status).toBe(204);
  const { json } = await server.ask("root", "GET", "/v1/deliveries");
  const [first] = json["items"] as readonly Record<string, unknown>[];
  expect(first).toMatchObject({ kind: "confirmation-requested", reason: "HTTP 410: gone" });
  expect(Object.keys(first ?? {})).not.toContain("confirmation");
});

test("the client lists them and has them sent again", async () => {
  const { server, seqs } = await openDeliveries();
  const root = createClient({
    baseUrl: "http://127.0.0.1",
    headers: { authorization: "root" },
    fetch: (request) => server.app.fetch(request),
  });
  const { items } = await root.deliveries.list({ limit: 10 });
  expect(items.map(({ sequence }) => sequence)).toEqual(seqs);
  const [first] = items;
  if (first === undefined) throw new Error("Two were given up.");
  expect(await root.deliveries.retry(first)).toEqual(first);
  await expect(root.deliveries.retry(first)).rejects.toMatchObject({ status: 404, code: "unknown-delivery" });
});

test("those who may see a question see who was told of it; why not, only administrators", async () => {
  const { server, ledger, ids } = await openDeliveries();
  const [id = ""] = ids;
  await ledger.outbox.channelPlace("email");
  const book = new MessageBook(ledger.items, "email", () => ledger.now);
  const tell = async (person: string): ReturnType<MessageBook["claim"]> =>
    book.claim(id, `${person}@example.com`, { person });
  const [ana, bob] = [await tell("ana"), await tell("bob")];
  if (ana.next !== "send" || bob.next !== "send") throw new Error("Both are to be sent.");
  await book.note(id, "ana@example.com", { claimed: ana.message, as: { ...ana.message, state: "sent" } });
  await book.note(id, "bob@example.com", { claimed: bob.message, as: "not sent", because: "550 full" });
  const path = `/v1/confirmations/${id}/deliveries`;
  const told = { channel: "email", person: "ana", state: "sent", isReply: false };
  const failed = { channel: "email", person: "bob", state: "failed", isReply: false };
  const seen = await server.ask("ana", "GET", path);
  expect(seen.json).toEqual({
    items: [told, failed].map((item) => ({ ...item, at: expect.stringMatching(/^20.*Z$/) as string })),
  });
  expect(JSON.stringify(seen.json)).not.toContain("example.com");
  const all = await server.ask("root", "GET", path);
  expect(all.json).toMatchObject({ items: [told, { ...failed, reason: "550 full" }] });
  expect((await server.ask("bob", "GET", path)).status).toBe(404);
  // Once it arrived, it has not failed.
  const retried = await tell("bob");
  if (retried.next !== "send") throw new Error("It is to be sent again.");
  await book.note(id, "bob@example.com", {
    claimed: retried.message,
    as: { ...retried.message, state: "sent" },
  });
  const later = await server.ask("root", "GET", path);
  expect(later.json).toMatchObject({ items: [told, { person: "bob", state: "sent" }] });
});
