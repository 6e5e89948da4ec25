import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { createEngine } from "../../../src/index.ts";
import { approveAll, conform, failed } from "../../support/mcp/conformance.ts";
import { type Folder, makeFolder } from "../../support/processes/command-line.ts";
import { freePort, program, startHttpGateway } from "./gateway-process.ts";

const SERVER = fileURLToPath(new URL("../../support/mcp/conformance-server.mjs", import.meta.url));
const EVERYTHING = program("@modelcontextprotocol/server-everything");

/** Approves everything that is asked through the gateway, as it comes. */
async function approveIn({ ledger }: Folder): Promise<() => number> {
  const engine = await createEngine({ ledger });
  const { approved, stop } = approveAll(engine);
  onTestFinished(async () => {
    await stop();
    await engine.close();
  });
  return approved;
}

test("the suite passes through the gateway where nothing is gated", async () => {
  const folder = makeFolder();
  const args = ["--require", "json_schema_2020_12_tool", "--", process.execPath, SERVER];
  const { url } = await startHttpGateway(folder, args);
  const outcomes = await conform(url.href, folder.path);
  expect(Object.keys(outcomes).length).toBeGreaterThan(25);
  expect(failed(outcomes)).toEqual([]);
}, 120_000);

test("and where every tool is gated and a person says yes to all", async () => {
  const folder = makeFolder();
  const { url } = await startHttpGateway(folder, ["--", process.execPath, SERVER]);
  const approved = await approveIn(folder);
  const outcomes = await conform(url.href, folder.path);
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
  const direct = await conform(upstream, folder.path);
  const through = await conform(url.href, folder.path);
  expect(failed(through).filter((name) => !failed(direct).includes(name))).toEqual([]);
  expect(Object.keys(through)).toEqual(Object.keys(direct));
  expect(failed(direct).length).toBeLessThan(Object.keys(direct).length);
}, 120_000);
