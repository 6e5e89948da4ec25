import { expect, test } from "vitest";
import type { JournalPlace } from "../../../src/engine/index.ts";
import { fromEventId, toEventId } from "../../../src/http/feed/event-id.ts";
import { useResources } from "../../support/resources.ts";
import { type ApprovalsServer, PEOPLE, startApprovalsServer } from "./approvals-server.ts";
import { confirmationIn, FeedReader } from "./feed-reader.ts";

const resources = useResources();

async function follow(
  server: ApprovalsServer,
  person: string,
  options?: Parameters<typeof FeedReader.open>[2],
): Promise<FeedReader> {
  const reader = await FeedReader.open(server.app, person, options);
  resources.add(() => reader.close());
  return reader;
}

/** The places of the journal's records. */
async function journalPlaces(server: ApprovalsServer): Promise<readonly JournalPlace[]> {
  const records = await server.engine.ledger.journal.records({ after: 0, limit: 10_000 });
  return records.map(({ seq, hash }) => ({ seq, hash }));
}

function readerOf(server: ApprovalsServer, person: string): Parameters<typeof toEventId>[0] {
  const viewer = { kind: "token", roles: [], scopes: [], authenticated: true, id: person } as const;
  return { ledger: server.engine.ledger, viewer };
}

/** The place that an id of this person's names. */
function placeOf(server: ApprovalsServer, person: string, id: string | undefined): JournalPlace | undefined {
  return fromEventId(readerOf(server, person), id ?? "");
}

test("a new stream says where it begins, and then tells every change as it happens", async () => {
  const server = await startApprovalsServer(resources);
  await server.say("ana", "pay 1");
  const reader = await follow(server, "ana");
  const ready = await reader.next();
  expect(ready).toMatchObject({ event: "ready", data: {} });
  expect(placeOf(server, "ana", ready?.id)).toEqual((await journalPlaces(server)).at(-1));
  const [asked] = await server.say("ana", "pay 5");
  const told = await reader.next();
  expect(told).toMatchObject({ event: "confirmation", data: { id: asked?.id, status: "requested" } });
  expect(confirmationIn(told).can).toEqual({ decide: true, amend: true, cancel: true });
  const shown = await server.ask("ana", "GET", `/v1/confirmations/${asked?.id}`);
  expect(told?.data).toEqual(shown.json);
  await server.ask("ana", "POST", `/v1/confirmations/${asked?.id}/decision`, { confirmed: true });
  const rest = await reader.until((message) => confirmationIn(message).status === "succeeded");
  expect(rest.every(({ event }) => event === "confirmation")).toBe(true);
});

test("tells each viewer only what they may see, with what they may do", async () => {
  const server = await startApprovalsServer(resources);
  const [ana, bob, meg] = [
    await follow(server, "ana"),
    await follow(server, "bob"),
    await follow(server, "meg"),
  ];
  for (const reader of [ana, bob, meg]) await reader.next();
  await server.say("ana", "pay 5");
  const [transfer] = await server.say("ana", "transfer 6");
  const [own] = await server.say("bob", "pay 7");
  expect((await ana.take(2)).map((message) => confirmationIn(message).tool)).toEqual(["pay", "transfer"]);
  const toMeg = confirmationIn(await meg.next());
  expect([toMeg.id, toMeg.can.decide]).toEqual([transfer?.id, true]);
  expect(confirmationIn(await bob.next()).id).toBe(own?.id);
});

test("a client that was away sees every change since, in order, once per id, and then what comes", async () => {
  const server = await startApprovalsServer(resources);
  const before = await follow(server, "ana");
  await before.next();
  await server.say("ana", "pay 0");
  const lastEventId = (await before.next())?.id ?? "";
  await before.close();
  for (let i = 1; i <= 120; i += 1) await server.say("ana", `pay ${i}`);
  const [reader, byQuery] = [
    await follow(server, "ana", { lastEventId }),
    await follow(server, "ana", { query: `?lastEventId=${lastEventId}` }),
  ];
  const writing = (async () => {
    for (let i = 121; i <= 160; i += 1) await server.say("ana", `pay ${i}`);
  })();
  const expected = Array.from({ length: 160 }, (_, i) => i + 1);
  for (const one of [reader, byQuery]) {
    const messages = await one.take(160);
    expect(messages.map((message) => confirmationIn(message).args["amount"])).toEqual(expected);
    const places = await journalPlaces(server);
    const from = placeOf(server, "ana", lastEventId)?.seq ?? 0;
    expect(messages.map(({ id }) => placeOf(server, "ana", id))).toEqual(
      places.filter(({ seq }) => seq > from),
    );
  }
  await writing;
});

test("a client that was away while another server wrote misses nothing of that either", async () => {
  const ledger = `sqlite:${await resources.folder()}/ledger.db`;
  const [here, elsewhere] = [
    await startApprovalsServer(resources, { ledger }),
    await startApprovalsServer(resources, { ledger, name: "desk" }),
  ];
  const reader = await follow(here, "ana");
  await reader.next();
  for (let i = 0; i < 20; i += 1) await elsewhere.say("ana", `pay ${i}`);
  const messages = await reader.take(20);
  expect(messages.map((message) => confirmationIn(message).args["amount"])).toEqual(
    Array.from({ length: 20 }, (_, i) => i),
  );
});

test.each([
  ["too old", (places: readonly JournalPlace[]) => places.at(-7), "too-old"],
  [
    "too old, and a number",
    (places: readonly JournalPlace[]) => ({ seq: places.at(-7)?.seq ?? 0 }),
    "too-old",
  ],
  [
    "from the future",
    (places: readonly JournalPlace[]) => ({ seq: (places.at(-1)?.seq ?? 0) + 1 }),
    "from-elsewhere",
  ],
  [
    "of another record",
    (places: readonly JournalPlace[]) => ({ seq: places.at(-2)?.seq ?? 0, hash: "another" }),
    "from-elsewhere",
  ],
  [
    "of another newest record",
    (places: readonly JournalPlace[]) => ({ seq: places.at(-1)?.seq ?? 0, hash: "another" }),
    "from-elsewhere",
  ],
  ["no place", () => undefined, "unknown-id"],
])("an id that is %s gets a reset, what waits, and then what comes", async (_name, placeFor, reason) => {
  const server = await startApprovalsServer(resources, { app: { feed: { mostBehind: 5 } } });
  for (let i = 0; i < 10; i += 1) await server.say("ana", `pay ${i}`);
  const places = await journalPlaces(server);
  const place = placeFor(places);
  const lastEventId = place === undefined ? "1:abc" : toEventId(readerOf(server, "ana"), place);
  const reader = await follow(server, "ana", { lastEventId });
  const [reset, snapshot] = await reader.take(2);
  expect(reset).toMatchObject({ event: "reset", data: { reason } });
  expect(placeOf(server, "ana", reset?.id)).toEqual(places.at(-1));
  expect(snapshot).toMatchObject({
    event: "snapshot",
    data: { items: Array.from({ length: 10 }, () => ({})) },
  });
  const [asked] = await server.say("ana", "pay 11");
  expect(confirmationIn(await reader.next()).id).toBe(asked?.id);
});

test("0 is before everything", async () => {
  const server = await startApprovalsServer(resources);
  const [first] = await server.say("ana", "pay 1");
  const reader = await follow(server, "ana", { lastEventId: "0" });
  expect(confirmationIn(await reader.next()).id).toBe(first?.id);
});

test("a heartbeat keeps a client's place even if nothing was for it", async () => {
  const server = await startApprovalsServer(resources, { app: { feed: { heartbeatMs: 20 } } });
  const reader = await follow(server, "bob");
  const ready = await reader.next();
  await server.say("ana", "pay 5");
  const latest = (await journalPlaces(server)).at(-1);
  expect(placeOf(server, "bob", ready?.id)).not.toEqual(latest);
  const beats = reader.next().catch(() => undefined);
  await expect.poll(() => placeOf(server, "bob", reader.lastId), { timeout: 20_000 }).toEqual(latest);
  await reader.close();
  await beats;
});

test("a reader that does not keep up is cut off, and the others lose nothing", async () => {
  const server = await startApprovalsServer(resources, { app: { feed: { mostQueuedBytes: 4_000 } } });
  const slow = await follow(server, "ana");
  const quick = await follow(server, "ana");
  await slow.next();
  await quick.next();
  const asked: string[] = [];
  for (let i = 0; i < 40; i += 1) {
    const [one] = await server.say("ana", `pay ${i}`);
    asked.push(one?.id ?? "");
    expect(confirmationIn(await quick.next()).id).toBe(one?.id);
  }
  const lost = async (): Promise<void> => {
    while ((await slow.next()) !== undefined);
  };
  await expect(lost()).rejects.toThrow(/was too slow/);
  const back = await follow(server, "ana", { lastEventId: slow.lastId });
  const rest = asked.slice(asked.length - 30);
  const messages = await back.until((message) => confirmationIn(message).id === rest.at(-1));
  expect(messages.map((message) => confirmationIn(message).id).slice(-30)).toEqual(rest);
});

test("streams end when the server drains, and no new one begins", async () => {
  const server = await startApprovalsServer(resources);
  const reader = await follow(server, "ana");
  await reader.next();
  server.app.drain();
  expect(await reader.next()).toBeUndefined();
  expect((await server.ask("ana", "GET", "/v1/confirmations/stream")).status).toBe(503);
});

test("a stream ends after its time, so that its client says again who it is", async () => {
  const server = await startApprovalsServer(resources, { app: { feed: { heartbeatMs: 10, mostAgeMs: 0 } } });
  const reader = await follow(server, "ana");
  await reader.next();
  expect(await reader.next()).toBeUndefined();
});

test.each([
  ["is not known any more", undefined],
  ["may not do any more what they might", { id: "ana", scopes: ["read"] }],
])("a stream ends when whoever reads it %s", async (_name, later) => {
  let ana: (typeof PEOPLE)[string] | undefined = PEOPLE["ana"];
  const server = await startApprovalsServer(resources, {
    app: { authenticate: () => ana, feed: { heartbeatMs: 10, recheckMs: 0 } },
  });
  const reader = await follow(server, "ana");
  await reader.next();
  const [asked] = await server.say("ana", "pay 5");
  expect(confirmationIn(await reader.next()).id).toBe(asked?.id);
  ana = later;
  expect(await reader.next()).toBeUndefined();
});

test("a HEAD request opens no stream", async () => {
  const server = await startApprovalsServer(resources);
  const { status, headers } = await server.ask("ana", "HEAD", "/v1/confirmations/stream");
  expect([status, headers.get("content-type")]).toEqual([200, "text/event-stream"]);
});

test("a thousand streams of a thousand people on one process each get what is theirs", async () => {
  const people = Object.fromEntries(
    Array.from({ length: 1_000 }, (_, i) => [`p${i}`, { id: `p${i}`, roles: ["manager"] }]),
  );
  const server = await startApprovalsServer(resources, {
    app: {
      authenticate: (request) => ({ ...PEOPLE, ...people })[request.headers.get("authorization") ?? ""],
    },
  });
  const readers = await Promise.all(Object.keys(people).map((person) => follow(server, person)));
  await Promise.all(readers.map((reader) => reader.next()));
  const [asked] = await server.say("ana", "transfer 5");
  const told = await Promise.all(readers.map((reader) => reader.next()));
  expect(told.every((message) => confirmationIn(message).id === asked?.id)).toBe(true);
  const [mine] = await server.say("p7", "pay 1");
  expect(confirmationIn(await readers[7]?.next()).id).toBe(mine?.id);
});
