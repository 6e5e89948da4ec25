import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import { ANYBODY } from "../../src/engine/index.ts";
import { fromEventId } from "../../src/http/feed/event-id.ts";
import { migratePostgres } from "../../src/stores/postgres/index.ts";
import { answer, told } from "../support/http/adk-client.ts";
import { type Received, WebhookReceiver } from "../support/http/webhook-receiver.ts";
import { databaseName, execute } from "../support/postgres/server.ts";
import { Resources } from "../support/resources.ts";
import { AgentFolder } from "./agent-folder.ts";
import { FeedWatch } from "./feed-watch.ts";
import { type Decided, ServedReplica } from "./served-replica.ts";

const ENV = {
  COUNTERSIGN_SECRET: "the secret of three replicas, long enough",
  COUNTERSIGN_WEBHOOK_SECRET: `whsec_${Buffer.alloc(32, 7).toString("base64")}`,
};
const TAKEN_OVER_WITHIN_MS = 30_000;
const TIMEOUT_MS = 180_000;

const resources = new Resources();
const receiver = new WebhookReceiver();
let ledger: string;
let teller: AgentFolder;
let a: ServedReplica;
let b: ServedReplica;
let c: ServedReplica;
/** One that dies amid its work. */
let victim: ServedReplica;
/** What clients of the three were told. */
let watches: readonly [FeedWatch, FeedWatch, FeedWatch];

beforeAll(async () => {
  resources.add(() => receiver.close());
  await receiver.listen();
  const server = inject("postgres");
  const name = databaseName();
  await execute(server, `create database ${name}`);
  resources.add(() => execute(server, `drop database ${name} with (force)`));
  const url = new URL(server);
  url.pathname = `/${name}`;
  ledger = url.href;
  await migratePostgres(ledger);
  teller = await AgentFolder.in(await resources.folder());
  const input = { folder: teller.folder, ledger, args: ["--webhook", receiver.url], env: ENV };
  [a, b, c, victim] = await Promise.all([
    ServedReplica.start(resources, input),
    ServedReplica.start(resources, input),
    ServedReplica.start(resources, input),
    ServedReplica.start(resources, input),
  ]);
  watches = await Promise.all([
    FeedWatch.on(resources, a),
    FeedWatch.on(resources, b),
    FeedWatch.on(resources, c),
  ]);
}, TIMEOUT_MS);

afterAll(() => resources.release());

/** A question in the ledger's own words. */
async function ask<T>(sql: string): Promise<readonly T[]> {
  const [found] = await execute(ledger, sql);
  return (found?.rows ?? []) as T[];
}

describe.concurrent("three servers on one database", () => {
  // First, because it takes as long as a lease does.
  test(
    "what a server that was killed ran is taken over, or shown as unknown, within 30 s",
    async () => {
      const [watch] = watches;
      const [pay = ""] = await a.ask("pays", "pay 1010");
      const [sync = ""] = await b.ask("syncs", "sync 1011");
      await Promise.all([victim.decide(pay, true), victim.decide(sync, true)]);
      await victim.client.createSession("thinks");
      const cutOff = victim.client.run("thinks", "think 1012").catch(() => undefined);
      const begun = await Promise.all([1010, 1011, 1012].map((number) => teller.begun(number)));
      expect(begun.flat().map(({ pid }) => pid)).toEqual([victim.pid, victim.pid, victim.pid]);
      // Whatever it has taken to send is sent: what a killed server has in hand waits for a minute.
      for (const id of [pay, sync]) await receiver.until((all) => all.filter(isAbout(id)).length === 2);
      victim.signal("SIGKILL");
      const killedAt = Date.now();
      await victim.ended;
      await cutOff;
      for (const number of [1010, 1011, 1012]) teller.release(number);
      await Promise.all([watch.until(pay, "unknown"), watch.until(sync, "succeeded")]);
      await teller.begun(1012, 2);
      expect(Date.now() - killedAt).toBeLessThan(TAKEN_OVER_WITHIN_MS);
      expect(teller.deeds(1010), "not again").toHaveLength(1);
      const again = teller.deeds(1011);
      expect(again).toHaveLength(2);
      expect(new Set(again.map(({ key }) => key)), "under one key").toHaveLength(1);
    },
    TIMEOUT_MS,
  );

  test(
    "what is decided on one resumes a run that another began, and streams to a client of the third",
    async () => {
      const [slow = "", quick = ""] = await b.ask("across", "pay 1001 and pay 2");
      expect((await a.decide(slow, true)).status).toBe(200);
      const [deed] = await teller.begun(1001);
      expect(deed?.pid, "it runs where it was decided").toBe(a.pid);
      const streamed: string[] = [];
      for await (const event of c.client.stream("across", answer(quick, { confirmed: true }))) {
        streamed.push(...told([event]));
        // Its own is done, and it still waits for the other one, which runs elsewhere.
        if (teller.deeds(2).length === 1) teller.release(1001);
      }
      expect(streamed.at(-1)).toBe('{"did":1001}, {"did":2}');
      expect(teller.deeds(1001)).toHaveLength(1);
      expect(teller.deeds(2)).toMatchObject([{ pid: c.pid }]);
      expect(await a.client.events("across")).toEqual(await b.client.events("across"));
    },
    TIMEOUT_MS,
  );

  test(
    "of verdicts that reach all three at the same moment one stands, and the call runs once or not at all",
    async () => {
      const replicas = [a, b, c];
      const race = async (number: number): Promise<void> => {
        const [id = ""] = (await replicas[number % 3]?.ask(`race-${number}`, `pay ${number}`)) ?? [];
        const answers = await Promise.all(
          replicas.map((replica, index) => replica.decide(id, (index + number) % 2 === 0)),
        );
        const verdict = await verdictOf(id);
        expect(answers.map(({ status }) => status)).toEqual(
          replicas.map((_, index) => (((index + number) % 2 === 0) === verdict ? 200 : 409)),
        );
        for (const watch of watches) await watch.until(id, verdict ? "succeeded" : "denied");
        expect(teller.deeds(number)).toHaveLength(verdict ? 1 : 0);
      };
      for (let number = 100; number < 120; number += 4)
        await Promise.all([0, 1, 2, 3].map((more) => race(number + more)));
    },
    TIMEOUT_MS,
  );
});

describe("of three servers on one database", () => {
  test(
    "one that is asked to end finishes what it runs, leaves the rest to the others, and its clients miss nothing elsewhere",
    async () => {
      const [, , ofC] = watches;
      const [id = ""] = await a.ask("ends", "pay 1020");
      await c.decide(id, true);
      const [deed] = await teller.begun(1020);
      expect(deed?.pid).toBe(c.pid);
      c.signal("SIGTERM");
      await ofC.ended;
      // What happens while its client is away.
      const [later = ""] = await b.ask("meanwhile", "pay 3");
      await a.decide(later, true);
      await watches[0].until(later, "succeeded");
      teller.release(1020);
      expect(await c.ended).toEqual({ code: 0, signal: null });
      await ofC.follow(b);
      await Promise.all(watches.map((watch) => watch.until(id, "succeeded")));
      await ofC.until(later, "succeeded");
      expect(teller.deeds(1020)).toHaveLength(1);
      await expect.poll(async () => told(await a.client.events("ends")).at(-1)).toBe('{"did":1020}');
    },
    TIMEOUT_MS,
  );

  test(
    "every client was told of every change, in order and once, the webhook of each notice once, and the journal verifies",
    async () => {
      const [id = ""] = await a.ask("last", "pay 4");
      await b.decide(id, true);
      await Promise.all(watches.map((watch) => watch.until(id, "succeeded")));
      // The position of a record is that of its line, and its place there.
      const changes = await ask<{ readonly seq: string; readonly hash: string; readonly kind: string }>(
        "select seq * 4096 + nth - 1 as seq, hash, kinds::json ->> (nth - 1)::integer as kind from countersign.log, " +
          "json_array_elements(replace(body, chr(1), session)::json -> 'records') with ordinality r (record, nth) " +
          "where record::jsonb ? 'confirmation' or record::jsonb ? 'call' order by 1",
      );
      const places = changes.map(({ seq, hash }) => ({ seq: Number(seq), hash }));
      const reader = { ledger: { digestKey: await digestKey() }, viewer: ANYBODY };
      const placeOf = (message: { readonly id?: string }): unknown => fromEventId(reader, message.id ?? "");
      // What is told of an earlier change may be how it ended: the last is told a moment later.
      for (const { messages } of watches)
        await expect.poll(() => messages.map(placeOf), { timeout: 20_000 }).toEqual(places);
      const notices = changes.filter(({ kind }) => /^confirmation-|^call-unknown$/.test(kind));
      await receiver.count(notices.length);
      const received = receiver.received.map(
        ({ body }) => (JSON.parse(body) as { readonly sequence: number }).sequence,
      );
      expect(received.map(String).toSorted()).toEqual(notices.map(({ seq }) => seq).toSorted());
      expect(await a.get("/v1/audit/verify")).toMatchObject({ ok: true, faults: [] });
    },
    TIMEOUT_MS,
  );
});

function isAbout(id: string): (received: Received) => boolean {
  return ({ body }) => (JSON.parse(body) as { readonly data: { readonly id: string } }).data.id === id;
}

/** What the ids of the feed are sealed with. */
async function digestKey(): Promise<Uint8Array> {
  const [row] = await ask<{ readonly value: string }>(
    "select value from countersign.meta where name = 'digest-key'",
  );
  return Buffer.from(row?.value ?? "", "hex");
}

/** What the ledger says was decided. */
async function verdictOf(id: string): Promise<boolean> {
  const { decision } = await a.get<Decided["confirmation"]>(`/v1/confirmations/${id}`);
  return decision?.confirmed === true;
}
