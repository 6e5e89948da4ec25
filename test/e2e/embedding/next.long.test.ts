import { spawn } from "node:child_process";
import { cpSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { expect, test } from "vitest";
import { command, ROOT } from "../../../scripts/command.ts";
import { ensurePeer } from "../../../scripts/test-tools.ts";
import { useResources } from "../../support/resources.ts";
import { BASE_PATH, expectApprovals } from "./embedding.ts";

const resources = useResources();
const QUIET = { NEXT_TELEMETRY_DISABLED: "1", NODE_OPTIONS: "" };

/** The package as it would be published, where the peer finds it: built from source, with a page of one line. */
function installPackage(peer: string): void {
  const folder = join(peer, "node_modules", "countersign");
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(join(folder, "dist", "web"), { recursive: true });
  cpSync(join(ROOT, "package.json"), join(folder, "package.json"));
  // Types are looked at elsewhere.
  const untyped = ["--noCheck", "--declaration", "false", "--isolatedDeclarations", "false"];
  const built = command("tsc", ["-p", "tsconfig.build.json", "--outDir", join(folder, "dist"), ...untyped]);
  expect(built).toMatchObject({ status: 0, stdout: "", stderr: "" });
  writeFileSync(join(folder, "dist", "web", "index.html"), "<title>the inbox</title>");
}

/** Starts a built Next app, and resolves to where it listens. */
async function startNext(peer: string, env: NodeJS.ProcessEnv): Promise<string> {
  const next = join(peer, "node_modules", "next", "dist", "bin", "next");
  const child = spawn(process.execPath, [next, "start", "--port", "0", "--hostname", "127.0.0.1"], {
    cwd: peer,
    env: { ...process.env, ...QUIET, ...env },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const ended = new Promise((resolve) => child.once("close", resolve));
  resources.add(async () => {
    child.kill("SIGKILL");
    await ended;
  });
  for await (const line of createInterface({ input: child.stdout })) {
    const [url] = /http:\/\/[\d.]+:[1-9]\d*/.exec(line) ?? [];
    if (url !== undefined) return url;
  }
  throw new Error("Next ended before it listened.");
}

test("in Next, as a route handler of the built package, it does all that it does elsewhere", async () => {
  const peer = ensurePeer("next");
  installPackage(peer);
  resources.add(() => rmSync(join(peer, ".next"), { recursive: true, force: true }));
  const built = command("node", ["node_modules/next/dist/bin/next", "build"], { cwd: peer, env: QUIET });
  expect(built, built.stdout + built.stderr).toMatchObject({ status: 0 });
  const url = await startNext(peer, { SHOP_LEDGER: `sqlite:${join(await resources.folder(), "shop.db")}` });
  await expectApprovals(url);
  const page = await fetch(`${url}${BASE_PATH}/`);
  expect([page.status, await page.text()]).toEqual([200, "<title>the inbox</title>"]);
}, 600_000);
