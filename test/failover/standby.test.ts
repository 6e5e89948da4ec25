import { expect, test } from "vitest";
import { SessionWriter } from "../../src/engine/ledger/contract/build.ts";
import { listRisks } from "../../src/stores/index.ts";
import { migratePostgres, openPostgresLedger } from "../../src/stores/postgres/index.ts";
import { useResources } from "../support/resources.ts";
import { Server } from "./server.ts";

const resources = useResources();
const DATABASE = "postgres";

async function startPair(): Promise<readonly [Server, Server]> {
  const [primary, standby] = [await Server.prepare(resources), await Server.prepare(resources)];
  await primary.init();
  await migratePostgres(primary.url(DATABASE));
  await standby.follow(primary, primary.port);
  await primary.untilFollowed("async");
  return [primary, standby];
}

async function abouts(url: string): Promise<readonly string[]> {
  return (await listRisks(url)).map(({ about, message }) => `${about}: ${message}`);
}

test("reports whether a standby is synchronous, and standbys that cannot be seen", async () => {
  const [primary, standby] = await startPair();
  const url = primary.url(DATABASE);
  expect(await abouts(url)).toEqual([expect.stringMatching(/^standby: No standby .* is synchronous/)]);
  await primary.ask("create role watching login");
  const unseeing = url.replace("postgres@", "watching@");
  expect(await abouts(unseeing)).toEqual([expect.stringMatching(/cannot see whether it is synchronous/)]);
  await primary.waitForStandby();
  expect(await abouts(url)).toEqual([]);
  await primary.ask("alter role postgres set synchronous_commit = local");
  expect(await abouts(url)).toEqual([expect.stringMatching(/synchronous_commit is local/)]);
  await primary.ask("alter role postgres set synchronous_commit = off");
  expect(await abouts(url)).toEqual([expect.stringMatching(/synchronous_commit is off/)]);
  await primary.kill();
  await standby.promote();
  expect(await abouts(standby.url(DATABASE))).toContainEqual(
    expect.stringMatching(/^promotion: .*timeline 2/),
  );
});

test("a standby is refused, or passed over for the primary; a promoted one is found", async () => {
  const [primary, standby] = await startPair();
  await expect(openPostgresLedger({ url: standby.url(DATABASE) })).rejects.toMatchObject({
    code: "ledger-unreachable",
    message: expect.stringContaining("read-only standby") as unknown,
  });
  const both = `postgres://postgres@127.0.0.1:${standby.port},127.0.0.1:${primary.port}/${DATABASE}`;
  const ledger = await openPostgresLedger({ url: both });
  resources.add(() => ledger.close());
  const writer = new SessionWriter(ledger, "s1");
  expect(await writer.commit([writer.journal("made")], { sync: true })).toEqual({ ok: true });
  await primary.kill();
  const next = new SessionWriter(ledger, "s2");
  const committed = next.commit([next.journal("made")], { sync: true });
  await standby.promote();
  expect(await committed).toEqual({ ok: true });
  expect(await ledger.load({ sessionKey: "s2" })).toMatchObject({ session: { version: 1 } });
});
