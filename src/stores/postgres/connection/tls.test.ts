import { chmod, chown, mkdir, stat, writeFile } from "node:fs/promises";
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import { type Certificate, createAuthority } from "../../../../test/support/http/certificates.ts";
import { createDatabase } from "../../../../test/support/postgres/database.ts";
import { execute } from "../../../../test/support/postgres/server.ts";
import { Resources, useResources } from "../../../../test/support/resources.ts";
import { createLedger } from "../../index.ts";
import { openPostgresLedger } from "../open.ts";

const resources = useResources();
const forAll = new Resources();
const authority = createAuthority("the right authority");
const files = { root: "", other: "" };

/** A URL of the database by the name that is in the certificate, with these parameters. */
function withTls(url: string, parameters: Readonly<Record<string, string>>, hostname = "localhost"): string {
  const changed = Object.assign(new URL(url), { hostname });
  for (const [name, value] of Object.entries(parameters)) changed.searchParams.set(name, value);
  return changed.href;
}

function refusalOf(url: string): Promise<unknown> {
  return openPostgresLedger({ url }).then(
    (ledger) => ledger.close().then(() => "it opened"),
    (reason: unknown) => reason,
  );
}

function refused(problem: string, code = "ledger-unreachable"): object {
  return { code, message: expect.stringContaining(problem) as unknown };
}

/** Switches TLS on, with this certificate. Resolves once new connections get it. */
async function serveWith({ pem, key }: Certificate, folder: string): Promise<void> {
  const server = inject("postgres");
  const data = await stat(await settingOf(server, "data_directory"));
  await mkdir(folder, { mode: 0o755 });
  await writeFile(`${folder}/server.crt`, pem);
  await writeFile(`${folder}/server.key`, key, { mode: 0o600 });
  for (const path of [folder, `${folder}/server.key`]) await chown(path, data.uid, data.gid);
  await execute(
    server,
    `alter system set ssl_cert_file = '${folder}/server.crt'`,
    `alter system set ssl_key_file = '${folder}/server.key'`,
    "alter system set ssl = on",
    "select pg_reload_conf()",
  );
  while (!(await settingOf(server, "ssl_cert_file")).startsWith(folder));
}

async function settingOf(server: string, name: string): Promise<string> {
  const [shown] = await execute(server, `select current_setting('${name}') as value`);
  return String((shown?.rows[0] as { readonly value?: string } | undefined)?.value);
}

test("a server without TLS is not spoken to in the clear where TLS is asked for", async () => {
  const url = withTls(await createDatabase(resources), { sslmode: "require" });
  expect(await refusalOf(url)).toMatchObject(refused("does not support TLS"));
});

describe("a server with a certificate for localhost", () => {
  beforeAll(async () => {
    const folder = await forAll.folder();
    await chmod(folder, 0o755);
    Object.assign(files, { root: `${folder}/root.crt`, other: `${folder}/other.crt` });
    await writeFile(files.root, authority.pem);
    await writeFile(files.other, createAuthority("another authority").pem);
    await serveWith(authority.certify("localhost"), `${folder}/localhost`);
  });

  afterAll(async () => {
    await execute(inject("postgres"), "alter system reset all", "select pg_reload_conf()");
    await forAll.release();
  });

  test("is trusted by its authority and its name, on every connection", async () => {
    const plain = await createDatabase(resources);
    const ledger = await createLedger(withTls(plain, { sslmode: "verify-full", sslrootcert: files.root }));
    resources.add(() => ledger.close());
    const stop = ledger.onChange(() => {});
    const connections =
      "select ssl from pg_stat_ssl join pg_stat_activity using (pid) " +
      "where datname = current_database() and application_name = 'countersign'";
    let encrypted: readonly boolean[] = [];
    // One of the pool, and the one that listens.
    while (encrypted.length < 2) {
      const [found] = await execute(plain, connections);
      encrypted = found?.rows.map((row: { readonly ssl: boolean }) => row.ssl) ?? [];
    }
    stop();
    expect(new Set(encrypted)).toEqual(new Set([true]));
  });

  test.each(["prefer", "require", "verify-ca", "verify-full"])(
    "with sslmode=%s an authority that is not the right one is refused",
    async (sslmode) => {
      const url = await createDatabase(resources);
      const told = refused("not from a trusted authority: set sslrootcert");
      expect(await refusalOf(withTls(url, { sslmode, sslrootcert: files.other }))).toMatchObject(told);
      expect(await refusalOf(withTls(url, { sslmode }))).toMatchObject(told);
    },
  );

  test("is refused under another name", async () => {
    const parameters = { sslmode: "verify-full", sslrootcert: files.root };
    const url = withTls(await createDatabase(resources), parameters, "127.0.0.1");
    expect(await refusalOf(url)).toMatchObject(refused("is for a different host"));
  });

  test.each(["disable", "no-verify"])("is used unseen with sslmode=%s", async (sslmode) => {
    expect(await refusalOf(withTls(await createDatabase(resources), { sslmode }, "127.0.0.1"))).toBe(
      "it opened",
    );
  });
});

test.each([
  [{ sslmode: "verify_full" }, "sslmode is"],
  [{ sslmode: "verify-full", sslrootcert: "/nowhere/root.crt" }, "sslrootcert is"],
])("%j is refused before anything is dialled", async (parameters, problem) => {
  const url = withTls("postgres://user:secret@localhost/db", parameters);
  expect(await refusalOf(url)).toMatchObject(refused(problem, "invalid-option"));
});
