// What a noisy tenant costs the others of its process: p99 of their requests with it, over p99 without it. A report, not a test.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { createApp, createTenants, type Tenants } from "../src/http/index.ts";
import { createEngine } from "../src/index.ts";

const QUIET = 20;
const ROUNDS = 4;
const ROUND_MS = 2_500;
const PAUSE_MS = 25;
const AT_ONCE = 32;
/** What a new tenant is allowed, and less. */
const LIMITS = [3_000, 600, undefined] as const;
const NOISY = "noisy";

async function main(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "countersign-bench-tenants-"));
  try {
    for (const limit of LIMITS) {
      const { quiet, noisy } = await compare(join(folder, String(limit)), limit);
      const ratio = (percentile(noisy, 0.99) / percentile(quiet, 0.99)).toFixed(2);
      const limited = limit === undefined ? "no limit" : `a limit of ${limit} requests a minute`;
      process.stdout.write(
        `noisy tenant with ${limited}: p99 of the others ${ms(noisy)} with it, ${ms(quiet)} without it, ratio ${ratio} (${noisy.length} and ${quiet.length} requests)\n`,
      );
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Rounds with and without noise take turns, so that what else the machine does touches both. */
async function compare(folder: string, limit: number | undefined) {
  const tenants = serve(folder, limit);
  const times = { quiet: [] as number[], noisy: [] as number[] };
  try {
    await round(tenants, false);
    for (let at = 0; at < ROUNDS; at += 1) {
      times.quiet.push(...(await round(tenants, false)));
      times.noisy.push(...(await round(tenants, true)));
    }
  } finally {
    await tenants.close();
  }
  return times;
}

function serve(folder: string, limit: number | undefined): Tenants {
  return createTenants({
    tenantOf: ({ url }) => new URL(url).hostname.replace(/\.test$/, ""),
    open: async (name) => {
      const engine = await createEngine({ ledger: `sqlite:${folder}-${name}.db` });
      const limits = name === NOISY && limit !== undefined ? { limits: { requestsPerMinute: limit } } : {};
      const app = createApp({
        apps: {},
        engine,
        publicUrl: `https://${name}.test`,
        limits: { requestsPerMinute: Number.POSITIVE_INFINITY },
        authenticate: () => ({ id: "ana", scopes: ["read", "decide", "propose"] }),
      });
      return { engine, app, ...limits };
    },
  });
}

let key = 0;

/** Asks a question, and lists what waits. */
async function request(tenants: Tenants, name: string): Promise<void> {
  const headers = { host: `${name}.test`, "content-type": "application/json" };
  key += 1;
  const call = { app: "shop", tool: "pay", args: {}, key: `k${key}`, requireConfirmation: key % 50 === 0 };
  const body = JSON.stringify(call);
  await (
    await tenants.fetch(new Request(`https://${name}.test/v1/calls`, { method: "POST", headers, body }))
  ).text();
  await (await tenants.fetch(new Request(`https://${name}.test/v1/confirmations`, { headers }))).text();
}

async function round(tenants: Tenants, withNoise: boolean): Promise<readonly number[]> {
  const ended = performance.now() + ROUND_MS;
  const times: number[] = [];
  const quiet = Array.from({ length: QUIET }, async (_, at) => {
    while (performance.now() < ended) {
      const startedAt = performance.now();
      await request(tenants, `t${at}`);
      times.push(performance.now() - startedAt);
      await sleep(PAUSE_MS * (0.5 + Math.random()));
    }
  });
  const noise = Array.from({ length: withNoise ? AT_ONCE : 0 }, async () => {
    while (performance.now() < ended) {
      await request(tenants, NOISY);
      // Over a network, a client waits for each answer.
      await sleep(1);
    }
  });
  await Promise.all([...quiet, ...noise]);
  return times;
}

function percentile(times: readonly number[], share: number): number {
  const sorted = times.toSorted((a, b) => a - b);
  return sorted[Math.floor((sorted.length - 1) * share)] ?? Number.NaN;
}

function ms(times: readonly number[]): string {
  return `${percentile(times, 0.99).toFixed(1)} ms`;
}

await main();
