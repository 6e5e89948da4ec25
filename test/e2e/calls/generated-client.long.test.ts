import { execFile } from "node:child_process";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { command } from "../../../scripts/command.ts";
import { ensurePeer } from "../../../scripts/test-tools.ts";
import { serve } from "../../../src/http/node/index.ts";
import { useResources } from "../../support/resources.ts";
import { startApprovalsServer } from "../approvals/approvals-server.ts";

const resources = useResources();
const INSTALLING = 300_000;

/** Writes the document's types where the peer finds them, as the package `countersign-api`. */
function generateTypes(peer: string, document: object): void {
  const folder = join(peer, "node_modules", "countersign-api");
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder);
  writeFileSync(
    join(folder, "package.json"),
    JSON.stringify({ name: "countersign-api", types: "index.d.ts" }),
  );
  const [from, to] = [join(folder, "openapi.json"), join(folder, "index.d.ts")];
  writeFileSync(from, JSON.stringify(document));
  const generator = join(peer, "node_modules", ".bin", "openapi-typescript");
  const generated = command(generator, [from, "--output", to]);
  expect(generated, generated.stderr).toMatchObject({ status: 0 });
}

test("a client that is generated from the document compiles, asks, waits, claims and reports", {
  timeout: INSTALLING,
}, async () => {
  const peer = ensurePeer("openapi");
  const approvals = await startApprovalsServer(resources);
  generateTypes(peer, (await approvals.ask("ana", "GET", "/openapi.json")).json);
  const compiled = command(join(peer, "node_modules", ".bin", "tsc"), ["-p", peer]);
  expect(compiled).toMatchObject({ status: 0, stdout: "" });
  const server = await serve({ app: approvals.app, port: 0 });
  resources.add(() => server.close({ graceMs: 0 }));
  const { stdout, stderr } = await promisify(execFile)(process.execPath, [
    join(peer, "client.ts"),
    server.url,
  ]);
  expect(stderr).toBe("");
  expect(JSON.parse(stdout)).toEqual({
    seen: ["pending", "allowed", "executing", "succeeded"],
    refusal: "not-claimable",
    amended: true,
    result: { refunded: 20 },
    late: "claim-lost",
    shown: [{ tool: "refund", args: { amount: 40 } }],
    me: "meg",
  });
});
