// A thousand tenants in one process, most of them closed at any time: what a visit costs, and memory and connections. A report, not a test.
import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { createApp, createTenants, type Tenants } from "../src/http/index.ts";
import { createEngine } from "../src/index.ts";
import { migratePostgres } from "../src/stores/postgres/index.ts";
import { execute, PostgresServer } from "../test/support/postgres/server.ts";
import { emptyLedger } from "./postgres.ts";
import { median, quantile } from "./statistics.ts";

/** A prime, so that each comes once. */
const FAR_APART = 7_919;
/** Visited again and again, fewer than may be open. */
const HOT = 20;

const { values } = parseArgs({
  options: {
    store: { type: "string", default: "sqlite" },
    tenants: { type: "string", default: "1000" },
    open: { type: "string", default: "40" },
  },
});
const count = Number(values.tenants);
const mostOpen = Number(values.open);

interface Place {
  readonly urlOf: (tenant: string) => string;
  /** How many connections there are to the server; absent where there is none. */
  readonly connections?: () => Promise<number>;
  readonly end: () => Promise<void>;
}

async function main(): Promise<void> {
  const folder = mkdtempSync(join(import.meta.dirname, "many-"));
  const place = values.store === "postgres" ? await onPostgres() : onSqlite(folder);
  const tenants = serve(place);
  try {
    report("memory before", memory());
    const first = await visits(tenants, count / 10, (at) => at);
    report(`first visits of ${count / 10}`, `${times(first)}; ${memory()}`);
    const rest = await visits(tenants, count, (at) => (at * FAR_APART) % count);
    report(`visits of ${count}, each in another tenant`, `${times(rest)}; ${memory()}`);
    const again = await visits(tenants, count, (at) => (at * FAR_APART) % count);
    report(`the same again`, `${times(again)}; ${memory()}`);
    const hot = await visits(tenants, count, (at) => at % HOT);
    report(`visits of ${HOT} that stay open`, `${times(hot.slice(HOT))}; ${memory()}`);
    if (place.connections !== undefined) report("connections at the end", String(await place.connections()));
  } finally {
    await tenants.close();
    await place.end();
    rmSync(folder, { recursive: true });
  }
}

function onSqlite(folder: string): Place {
  return { urlOf: (tenant) => `sqlite:${join(folder, tenant)}.db`, end: async () => {} };
}

async function onPostgres(): Promise<Place> {
  const server = await PostgresServer.start();
  const url = await emptyLedger(server);
  const urlOf = (tenant: string): string => `${url}?schema=countersign_${tenant}&pool=2`;
  const [began, used] = [performance.now(), process.cpuUsage()];
  for (let at = 0; at < count; at += 1) await migratePostgres(urlOf(`t${at}`));
  report(`schemas of ${count} made`, `${spent(began, used)} each`);
  const connections = async (): Promise<number> => {
    const [result] = await execute(
      url,
      "select count(*) as n from pg_stat_activity where datname = current_database()",
    );
    return Number((result?.rows as { readonly n: string }[] | undefined)?.[0]?.n);
  };
  return { urlOf, connections, end: () => server.stop() };
}

const authenticate = () => ({ id: "ana", scopes: ["read", "decide", "propose"] as const });

function serve({ urlOf }: Place): Tenants {
  return createTenants({
    tenantOf: ({ url }) => new URL(url).hostname.replace(/\.test$/, ""),
    mostOpen,
    open: async (name) => {
      const engine = await createEngine({ ledger: urlOf(name) });
      const publicUrl = `https://${name}.test`;
      return { engine, app: createApp({ apps: {}, engine, publicUrl, authenticate }) };
    },
  });
}

/** Each proposes a call that needs nobody, and reads the inbox. */
async function visits(
  tenants: Tenants,
  number: number,
  which: (at: number) => number,
): Promise<readonly Visit[]> {
  const found: Visit[] = [];
  for (let at = 0; at < number; at += 1) {
    const origin = `https://t${which(at)}.test`;
    const headers = { host: new URL(origin).host, "content-type": "application/json" };
    const [began, used] = [performance.now(), process.cpuUsage()];
    const body = JSON.stringify({ app: "shop", tool: "pay", args: {}, key: crypto.randomUUID() });
    const made = await tenants.fetch(new Request(`${origin}/v1/calls`, { method: "POST", headers, body }));
    const page = await tenants.fetch(new Request(`${origin}/v1/confirmations`, { headers }));
    if (made.status >= 300 || page.status >= 300)
      throw new Error(`${origin} answered ${made.status} and ${page.status}: ${await made.text()}`);
    await page.text();
    const { user, system } = process.cpuUsage(used);
    found.push({ ms: performance.now() - began, cpuMs: (user + system) / 1_000 });
  }
  return found;
}

interface Visit {
  readonly ms: number;
  readonly cpuMs: number;
}

function times(visited: readonly Visit[]): string {
  const all = visited.map(({ ms }) => ms);
  const cpu = median(visited.map(({ cpuMs }) => cpuMs));
  return `p50 ${median(all).toFixed(1)} ms, p99 ${quantile(all, 0.99).toFixed(1)} ms, ${cpu.toFixed(1)} ms of our processor`;
}

function spent(began: number, used: NodeJS.CpuUsage): string {
  const { user, system } = process.cpuUsage(used);
  const [took, own] = [performance.now() - began, (user + system) / 1_000];
  return `${(took / count).toFixed(1)} ms, ${(own / count).toFixed(1)} ms of our processor`;
}

function memory(): string {
  globalThis.gc?.();
  const { rss, heapUsed } = process.memoryUsage();
  return `${(rss / 2 ** 20).toFixed(0)} MiB, ${(heapUsed / 2 ** 20).toFixed(0)} MiB of it heap`;
}

function report(what: string, found: string): void {
  process.stdout.write(`${what}: ${found}\n`);
}

await main();
