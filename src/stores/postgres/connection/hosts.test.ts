import { expect, test } from "vitest";
import { TcpProxy } from "../../../../test/support/http/tcp-proxy.ts";
import { createDatabase } from "../../../../test/support/postgres/database.ts";
import { useResources } from "../../../../test/support/resources.ts";
import { SessionWriter } from "../../../engine/ledger/contract/build.ts";
import { openPostgresLedger } from "../open.ts";
import { parseUrl } from "./settings.ts";

const resources = useResources();

/** The URL with these hosts instead of its own. */
function at(url: string, hosts: readonly string[], options = ""): string {
  const { username, password, pathname } = new URL(url);
  return `postgres://${username}:${password}@${hosts.join(",")}${pathname}${options}`;
}

async function proxyTo(url: string): Promise<TcpProxy> {
  const proxy = await TcpProxy.to(Number(new URL(url).port));
  resources.add(() => proxy.close());
  return proxy;
}

test("several hosts are read as libpq reads them, and named without the password", () => {
  const { name, hosts } = parseUrl(
    "postgres://me:s,e@one:5432,[::1]:5433,three/db?target_session_attrs=read-write&pool=3&sslmode=disable",
  );
  expect(name).toBe("postgres://one:5432,[::1]:5433,three/db");
  expect(hosts.map(({ connectionString }) => connectionString)).toEqual([
    "postgres://me:s,e@one:5432/db?sslmode=disable",
    "postgres://me:s,e@[::1]:5433/db?sslmode=disable",
    "postgres://me:s,e@three/db?sslmode=disable",
  ]);
});

test.each([
  ["postgres://u:secret@a,,b/db", "a host between the commas"],
  ["postgres://u:secret@a,b/db?target_session_attrs=standby", "invalid target_session_attrs"],
  ["postgres://u:secret@a:port,b/db", "cannot be read"],
])("%s is refused, without its password", async (url, problem) => {
  const error: unknown = await openPostgresLedger({ url }).catch((reason: unknown) => reason);
  expect(error).toMatchObject({
    code: "invalid-option",
    message: expect.stringContaining(problem) as unknown,
  });
  expect(String(error)).not.toContain("secret");
});

test("a host that does not answer is passed over, and what is wrong with all of them is said at once", async () => {
  const url = await createDatabase(resources);
  const { host } = new URL(url);
  const ledger = await openPostgresLedger({ url: at(url, ["127.0.0.1:1", host]) });
  resources.add(() => ledger.close());
  expect(await new SessionWriter(ledger, "s1").commit()).toEqual({ ok: true });
  await expect(openPostgresLedger({ url: at(url, ["127.0.0.1:1", "127.0.0.1:2"]) })).rejects.toMatchObject({
    code: "ledger-unreachable",
    message: expect.stringContaining("does not answer") as unknown,
  });
});

test.each([
  ["refuses connections", async (proxy: TcpProxy) => proxy.close()],
  ["falls silent", async (proxy: TcpProxy) => proxy.freeze()],
])(
  "when the host in use %s, the next one is used within seconds, by those who listen too",
  async (_, fail) => {
    const url = await createDatabase(resources);
    const [one, two] = [await proxyTo(url), await proxyTo(url)];
    const hosts = [one, two].map(({ port }) => `127.0.0.1:${port}`);
    const ledger = await openPostgresLedger({ url: at(url, hosts, "?pool=4") });
    resources.add(() => ledger.close());
    let hearing = Promise.withResolvers<void>();
    ledger.onChange(() => hearing.resolve());
    const writer = new SessionWriter(ledger, "s1");
    await writer.commit([writer.journal("made")]);
    expect(one.connections).toBeGreaterThan(0);
    const startedAt = performance.now();
    await fail(one);
    expect(await writer.commit([writer.journal("next")], { sync: true })).toEqual({ ok: true });
    expect(performance.now() - startedAt).toBeLessThan(4_000);
    expect(two.connections).toBeGreaterThan(0);
    const direct = await openPostgresLedger({ url });
    resources.add(() => direct.close());
    const other = new SessionWriter(direct, "s2");
    hearing = Promise.withResolvers<void>();
    await other.commit([other.journal("made")]);
    await hearing.promise;
  },
);
