import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { tryApprove } from "../../../src/engine/testing/try-decide.ts";
import { createEngine } from "../../../src/index.ts";
import { type Folder, makeFolder } from "../../support/processes/command-line.ts";
import { freePort, program, startHttpGateway } from "./gateway-process.ts";

const CONFORMANCE = program("@modelcontextprotocol/conformance");
const SERVER = fileURLToPath(new URL("../../support/mcp/conformance-server.mjs", import.meta.url));
const EVERYTHING = program("@modelcontextprotocol/server-everything");

/** What the suite says of each scenario: how many checks passed and failed. */
async function conform(url: string, folder: Folder): Promise<Readonly<Record<string, string>>> {
  const child = spawn(process.execPath, [CONFORMANCE, "server", "--url", url], { cwd: folder.path });
  let printed = "";
  child.stdout.on("data", (chunk: Buffer) => {
    printed += chunk.toString();
  });
  await new Promise((resolve) => child.once("close", resolve));
  const lines = printed.matchAll(/^[✓✗] ([\w-]+): (\d+ passed, \d+ failed)$/gm);
  return Object.fromEntries(Array.from(lines, ([, name = "", outcome = ""]) => [name, outcome]));
}

const failed = (outcomes: Readonly<Record<string, string>>): readonly string[] =>
  Object.entries(outcomes).flatMap(([name, outcome]) => (outcome.endsWith(" 0 failed") ? [] : [name]));

/** Approves everything that is asked, as it comes. */
async function approveAll(folder: Folder): Promise<() => number> {
  const engine = await createEngine({ ledger: folder.ledger });
  let approved = 0;
  const look = async (): Promise<void> => {
    for (const { confirmation } of (await engine.ledger.confirmations({ state: "open" })).items) {
      const decided = await tryApprove(engine, confirmation.id, { by: { id: "ana" } });
      if (decided.ok && !decided.repeated) approved += 1;
    }
  };
  let looking = Promise.resolve();
  const forget = engine.ledger.onChange(() => {
    looking = looking.then(look);
  });
  onTestFinished(async () => {
    forget();
    await looking;
    await engine.close();
  });
  return () => approved;
}

test("the suite passes through the gateway where nothing is gated", async () => {
  const folder = makeFolder();
  const args = ["--require", "json_schema_2020_12_tool", "--", process.execPath, SERVER];
  const { url } = await startHttpGateway(folder, args);
  const outcomes = await conform(url.href, folder);
  expect(Object.keys(outcomes).length).toBeGreaterThan(25);
  expect(failed(outcomes)).toEqual([]);
}, 120_000);

test("and where every tool is gated and a person says yes to all", async () => {
  const folder = makeFolder();
  const { url } = await startHttpGateway(folder, ["--", process.execPath, SERVER]);
  const approved = await approveAll(folder);
  const outcomes = await conform(url.href, folder);
  expect(failed(outcomes)).toEqual([]);
  expect(approved()).toBeGreaterThan(8);
}, 120_000);

test("in front of a server that lacks much, over HTTP, it fails nothing that the server passes", async () => {
  const folder = makeFolder();
  const port = await freePort();
  const server = spawn(process.execPath, [EVERYTHING, "streamableHttp"], {
    env: { ...process.env, PORT: String(port) },
  });
  onTestFinished(() => {
    server.kill("SIGKILL");
  });
  await new Promise((resolve) => server.stderr.once("data", resolve));
  const upstream = `http://127.0.0.1:${port}/mcp`;
  await expect
    .poll(
      () =>
        fetch(upstream).then(
          () => true,
          () => false,
        ),
      { timeout: 30_000 },
    )
    .toBe(true);
  const { url } = await startHttpGateway(folder, ["--require", "echo", "--url", upstream]);
  const direct = await conform(upstream, folder);
  const through = await conform(url.href, folder);
  expect(failed(through).filter((name) => !failed(direct).includes(name))).toEqual([]);
  expect(Object.keys(through)).toEqual(Object.keys(direct));
  expect(failed(direct).length).toBeLessThan(Object.keys(direct).length);
}, 120_000);
