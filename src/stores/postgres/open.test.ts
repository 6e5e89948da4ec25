import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { connect, createDatabase, createEmptyDatabase } from "../../../test/support/postgres/database.ts";
import { execute } from "../../../test/support/postgres/server.ts";
import { useResources } from "../../../test/support/resources.ts";
import { SessionWriter } from "../../engine/ledger/contract/build.ts";
import { createLedger, inspectLedger } from "../index.ts";
import { migratePostgres, openPostgresLedger } from "./open.ts";

const resources = useResources();

function withParts(
  url: string,
  parts: Partial<Pick<URL, "port" | "password" | "pathname" | "username">>,
): string {
  return Object.assign(new URL(url), parts).href;
}

test("createLedger opens what a postgres URL names, with either spelling", async () => {
  const url = await createDatabase(resources);
  for (const spelled of [url, url.replace("postgres:", "postgresql:")]) {
    const ledger = await createLedger(spelled);
    expect(ledger.digestKey).toHaveLength(32);
    await ledger.close();
  }
  expect(await inspectLedger(url)).toMatchObject({ exists: true });
});

test.each([
  ["a wrong password", { password: "wrong-secret" }, "the password is wrong"],
  ["a database that is not there", { pathname: "/nowhere" }, "there is no such database"],
  ["a server that is not there", { port: "1" }, "the server does not answer"],
])("%s is named at once, with what to do, and without the password", async (_, parts, problem) => {
  const url = withParts(await createDatabase(resources), parts);
  const error: unknown = await openPostgresLedger({ url }).catch((reason: unknown) => reason);
  expect(error).toMatchObject({
    code: "ledger-unreachable",
    message: expect.stringContaining(problem) as unknown,
  });
  expect(JSON.stringify(error) + String(error)).not.toMatch(/secret|postgres:password/);
});

test.each([
  ["postgres://user:secret@host/db?pool=0", "pool"],
  ["postgres://user:secret@host/db?pool=many", "pool"],
  ["postgres://user:secret@host/db?prepare=maybe", "prepare"],
  ["postgres://user:se cret@host:port/db", "cannot be read"],
])("%s is refused before anything is dialled, without its password", async (url, problem) => {
  const error: unknown = await openPostgresLedger({ url }).catch((reason: unknown) => reason);
  expect(error).toMatchObject({
    code: "invalid-option",
    message: expect.stringContaining(problem) as unknown,
  });
  expect(JSON.stringify(error) + String(error)).not.toContain("cret");
});

test("a pool is as large as the URL says, and says how it is used", async () => {
  const url = await createDatabase(resources);
  const ledger = await openPostgresLedger({ url: `${url}?pool=3` });
  resources.add(() => ledger.close());
  const pages = Promise.all(Array.from({ length: 12 }, () => ledger.journal.records({ after: 0, limit: 9 })));
  expect(ledger.stats().pool).toMatchObject({ size: 3, waiting: expect.any(Number) as unknown });
  await pages;
  const { pool, retries, reconnects } = ledger.stats();
  expect([pool.open, pool.waiting, retries, reconnects]).toEqual([3, 0, 0, 0]);
});

test("a role that may not create anything can serve, and one that lacks a right is told", async () => {
  const url = await createEmptyDatabase(resources);
  const role = `serving_${new URL(url).pathname.slice(1)}`;
  await migratePostgres(url);
  resources.add(() => execute(url, `drop owned by ${role}; drop role ${role}`));
  await execute(url, `create role ${role} login password 'pw'`);
  const served = withParts(url, { username: role, password: "pw" });
  await expect(openPostgresLedger({ url: served })).rejects.toMatchObject({
    code: "ledger-unreachable",
    message: expect.stringContaining("lacks a privilege") as unknown,
  });
  await execute(url, ...rightsFor(role));
  const ledger = await openPostgresLedger({ url: served });
  resources.add(() => ledger.close());
  const writer = new SessionWriter(ledger, "s1");
  expect(await writer.commit([writer.journal("noted")], { sync: true })).toEqual({ ok: true });
  expect(await ledger.journal.records({ after: 0, limit: 9 })).toHaveLength(1);
  const client = await connect(resources, served);
  await expect(client.query("create table countersign.x (y integer)")).rejects.toMatchObject({
    code: "42501",
  });
  await expect(client.query("drop table countersign.log")).rejects.toMatchObject({ code: "42501" });
  await expect(client.query("delete from countersign.log")).rejects.toMatchObject({ code: "42501" });
  await expect(client.query("delete from countersign.documents")).rejects.toMatchObject({ code: "42501" });
  await expect(client.query("delete from countersign.checkpoints")).rejects.toMatchObject({ code: "42501" });
});

test("a text with a NUL is a malformed request, not a fault", async () => {
  const ledger = await openPostgresLedger({ url: await createDatabase(resources) });
  resources.add(() => ledger.close());
  const writer = new SessionWriter(ledger, "s1", { user: "a\u0000b" });
  await expect(writer.commit()).rejects.toMatchObject({ code: "malformed-request" });
  expect(await new SessionWriter(ledger, "s2").commit()).toEqual({ ok: true });
});

/** As the page tells them to an operator. */
function rightsFor(role: string): readonly string[] {
  const page = readFileSync(new URL("../../../docs/operations.md", import.meta.url), "utf8");
  const [, block = ""] = /<!-- the serving role -->\s+```sql\n(.*?)```/s.exec(page) ?? [];
  const statements = block.replaceAll("serving", role).split(";\n").filter(Boolean);
  expect(statements.length).toBeGreaterThan(3);
  return statements;
}
