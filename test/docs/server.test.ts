import { readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ROOT } from "../../scripts/command.ts";
import { createApp } from "../../src/http/index.ts";
import { Agent, Runner } from "../../src/index.ts";
import { makeFolder } from "../support/processes/command-line.ts";

const PAGE = readFileSync(join(ROOT, "docs/guides/server.md"), "utf8");
const COMMANDS = [...PAGE.matchAll(/^countersign (.+)$/gm)].map(([, line = ""]) => line.split(" "));

test("every way to serve starts as it is written, and every token is made", async () => {
  const folder = makeFolder();
  symlinkSync(join(ROOT, "examples/agents"), join(folder.path, "agents"));
  expect(COMMANDS.length).toBeGreaterThan(6);
  let ledger: readonly string[] = [];
  for (const [index, args] of COMMANDS.entries()) {
    if (args[0] !== "serve") {
      expect(folder.run([...args, ...ledger])).toMatchObject({ code: 0, stderr: "" });
      continue;
    }
    // Each on its own: what has had a login is not served without one.
    ledger = ["--db", `sqlite:${index}.db`];
    const own = args.includes("--db") ? [] : ledger;
    const server = folder.start([...args, ...own, "--port", "0", "--json"]);
    await server.until(/^\{"url"/m);
    server.signal("SIGTERM");
    expect(await server.ended()).toMatchObject({ code: 0 });
  }
}, 240_000);

test("every route of the approvals API is in the table, and no other", async () => {
  const runner = new Runner({ agent: new Agent({ name: "shop" }), ledger: "memory:" });
  const app = createApp({ apps: { shop: runner } });
  const answer = await app.fetch(new Request("http://localhost/openapi.json"));
  const { paths } = (await answer.json()) as { readonly paths: Readonly<Record<string, object>> };
  const served = Object.entries(paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
  );
  const told = [...PAGE.matchAll(/`((?:GET|POST|PUT) \/v1\/[^`]+)`/g)].map(([, route = ""]) => route);
  expect(told.toSorted()).toEqual(served.filter((route) => route.includes(" /v1/")).toSorted());
});
