import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { command, ROOT } from "../../scripts/command.ts";
import { createDatabase } from "../support/postgres/database.ts";
import { useResources } from "../support/resources.ts";
import { adapterContract } from "./contract/cases.ts";
import { ADAPTER_READS, countedCycle, countedEngine, cycleOf } from "./contract/counted-cycle.ts";
import { Scene } from "./contract/scene.ts";
import { PEERS, peerSubject } from "./subjects/peers.ts";

const resources = useResources();
const PROGRAM = new URL("peer-program.ts", import.meta.url);
const RESOLVING = new URL("../support/processes/peer-packages.mjs", import.meta.url).href;
/** Its processes are not bundled. */
const TIMEOUT = 120_000;

const peers = await Promise.all(
  PEERS.map(async (peer) => ({ ...peer, subject: await peerSubject(peer.name) })),
);

describe.each(peers)("$name", { timeout: TIMEOUT }, ({ name, folder: peer, subject, except = {} }) => {
  const cases = adapterContract.filter((each) => !Object.hasOwn(except, each.name));

  test("leaves out only cases of the suite", () => {
    const names = adapterContract.map((each) => each.name);
    expect(names).toEqual(expect.arrayContaining(Object.keys(except)));
  });

  describe.each(["sqlite", "postgres"])("on %s", (store) => {
    test.each(cases)("$name", async ({ run }) => {
      const folder = await resources.folder();
      const url =
        store === "sqlite" ? `sqlite:${join(folder, "ledger.db")}` : await createDatabase(resources);
      const scene = new Scene(resources, { subject, url, folder, program: PROGRAM });
      await expect(run(scene)).resolves.toBeUndefined();
    });
  });

  // Claude Code asks by a hook as often as it likes.
  const { [name]: reads } = ADAPTER_READS;
  test.each(reads === undefined ? [] : [reads])(
    "reads the call once for each time that the framework asks",
    async (expected) => {
      expect(await countedCycle(subject, countedEngine(resources))).toEqual(cycleOf(expected));
    },
  );

  test("fits the framework's own types", () => {
    const { status, stdout } = command("tsc", ["--noEmit", "-p", `test/peers/${peer}`]);
    expect({ status, stdout }).toEqual({ status: 0, stdout: "" });
  });

  test("its example keeps its claim, also when it is run again", () => {
    const cwd = mkdtempSync(join(tmpdir(), "countersign-example-"));
    onTestFinished(() => rmSync(cwd, { recursive: true, force: true }));
    const example = join(ROOT, "examples", "adapters", name, "main.ts");
    for (let run = 1; run <= 2; run++) {
      const env = { COUNTERSIGN_PEER: peer };
      const args = ["--import", RESOLVING, example];
      const { status, stderr } = command("node", args, { cwd, env, timeoutMs: 60_000 });
      expect({ status, stderr }, `run ${run}`).toEqual({ status: 0, stderr: "" });
    }
  });
});
