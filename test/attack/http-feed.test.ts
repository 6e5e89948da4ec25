import { expect, test } from "vitest";
import { type ApprovalsServer, startApprovalsServer } from "../e2e/approvals/approvals-server.ts";
import { confirmationIn, FeedReader } from "../e2e/approvals/feed-reader.ts";
import { useResources } from "../support/resources.ts";

const resources = useResources();

async function follow(server: ApprovalsServer, person: string, lastEventId?: string): Promise<FeedReader> {
  const reader = await FeedReader.open(server.app, person, lastEventId === undefined ? {} : { lastEventId });
  resources.add(() => reader.close());
  return reader;
}

test("the ids of messages do not tell how much others do, and are good for nobody else", async () => {
  const server = await startApprovalsServer(resources);
  for (let i = 0; i < 7; i += 1) await server.say("ana", `pay ${i}`);
  const [newest] = (await server.engine.ledger.journal.records({ after: 0, limit: 100 })).slice(-1);
  const reader = await follow(server, "bob");
  const id = (await reader.next())?.id ?? "";
  expect(id).not.toBe("");
  for (const text of [id, Buffer.from(id, "base64url").toString("latin1")]) {
    expect(text).not.toContain(newest?.hash);
    expect(text).not.toMatch(/^\d+:/);
  }
  // The same place has another id each time, so that it does not even tell that nothing happened.
  expect((await (await follow(server, "bob")).next())?.id).not.toBe(id);
  const [first] = await (await follow(server, "ana", id)).take(1);
  expect(first).toMatchObject({ event: "reset", data: { reason: "unknown-id" } });
  // To its own reader it is a place: what came since is told.
  const [own] = await server.say("bob", "pay 9");
  expect(confirmationIn(await (await follow(server, "bob", id)).next()).id).toBe(own?.id);
});

test("the limit on streams is per person, and does not affect others", async () => {
  const server = await startApprovalsServer(resources, { app: { feed: { mostStreams: 3 } } });
  const readers = [await follow(server, "ana"), await follow(server, "ana"), await follow(server, "ana")];
  const refused = await server.ask("ana", "GET", "/v1/confirmations/stream");
  expect([refused.status, refused.json["code"]]).toEqual([429, "rate-limited"]);
  expect(refused.json["detail"]).toContain("3 live feeds");
  expect((await (await follow(server, "bob")).next())?.event).toBe("ready");
  await readers[0]?.close();
  expect((await (await follow(server, "ana")).next())?.event).toBe("ready");
});
