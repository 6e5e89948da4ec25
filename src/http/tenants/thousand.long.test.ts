import { readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { useResources } from "../../../test/support/resources.ts";
import { createEngine } from "../../index.ts";
import { createApp } from "../app.ts";
import type { OpenTenant } from "./open-tenants.ts";
import { createTenants, type Tenants } from "./tenants.ts";

const TENANTS = 1_000;
const MOST_OPEN = 50;
const AT_ONCE = 20;
const LONG_MS = 600_000;

const resources = useResources();

/** So many files, sockets and the like this process has open. */
function openFiles(): number {
  return readdirSync("/proc/self/fd").length;
}

function authenticate() {
  return { id: "ana", scopes: ["read", "decide", "propose"] as const };
}

async function forEachTenant(step: number, visit: (name: string) => Promise<void>): Promise<void> {
  const names = Array.from({ length: TENANTS / step }, (_, at) => `t${at * step}`);
  const next = names.values();
  await Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      for (const name of next) await visit(name);
    }),
  );
}

async function send(tenants: Tenants, name: string, path: string, body?: object): Promise<unknown> {
  const headers = { host: `${name}.test`, "content-type": "application/json" };
  const post = body === undefined ? {} : { method: "POST", body: JSON.stringify(body) };
  const answer = await tenants.fetch(new Request(`https://${name}.test${path}`, { headers, ...post }));
  expect(answer.status, await answer.clone().text()).toBe(200);
  return answer.json();
}

test(
  "a thousand tenants are served by one process, with few of them open, and none sees another's questions",
  async () => {
    const folder = await resources.folder();
    let [open, mostOpen, mostFiles] = [0, 0, 0];
    const before = openFiles();
    const tenants = createTenants({
      tenantOf: (request) => new URL(request.url).hostname.replace(/\.test$/, ""),
      mostOpen: MOST_OPEN,
      open: async (name): Promise<OpenTenant> => {
        const engine = await createEngine({ ledger: `sqlite:${join(folder, `${name}.db`)}` });
        open += 1;
        mostOpen = Math.max(mostOpen, open);
        return {
          engine,
          app: createApp({ apps: {}, engine, publicUrl: `https://${name}.test`, authenticate }),
          close: async () => {
            open -= 1;
          },
        };
      },
    });
    await forEachTenant(1, async (name) => {
      const ask = { app: "shop", tool: `pay-${name}`, args: {}, key: "k", requireConfirmation: true };
      await send(tenants, name, "/v1/calls", ask);
      mostFiles = Math.max(mostFiles, openFiles() - before);
    });
    await forEachTenant(10, async (name) => {
      const listed = await send(tenants, name, "/v1/confirmations");
      expect(listed).toMatchObject({ items: [{ tool: `pay-${name}` }] });
    });
    await tenants.close();
    expect(open).toBe(0);
    // Those that are being opened wait for room with their ledger open.
    expect(mostOpen).toBeLessThanOrEqual(2 * MOST_OPEN + AT_ONCE);
    // The file, its log, its shared memory and its watch.
    expect(mostFiles).toBeLessThanOrEqual(8 * (2 * MOST_OPEN + AT_ONCE));
  },
  LONG_MS,
);
