import { expect, test } from "vitest";
import { ensurePeer } from "../../../scripts/test-tools.ts";
import type { Line } from "../../support/processes/child.ts";
import { useResources } from "../../support/resources.ts";
import { startCallingServer } from "./calling-server.ts";

type PeerLine =
  | (Line & { readonly type: "listening"; readonly url: string })
  | (Line & { readonly type: "deleted"; readonly path: string });

const resources = useResources();
const ANA = { user: "ana" };
const BOSS = { by: { id: "ana" } };
const INSTALLING = 300_000;

test("a call of an ADK agent is approved here and runs there, once; a denied one does not", {
  timeout: INSTALLING,
}, async () => {
  ensurePeer("adk");
  const child = resources.child<PeerLine>(new URL("../../peers/adk/server.mjs", import.meta.url));
  const deleted: string[] = [];
  child.onLine((line) => line.type === "deleted" && deleted.push(line.path));
  const { url } = await child.line("listening");
  const caller = await startCallingServer(resources, url);
  const refused = await caller.runner.send("clean up", ANA);
  expect(refused.pending[0]).toMatchObject({ tool: "delete_file", args: { path: "a" }, source: "desk" });
  const no = await (await caller.runner.deny(refused.pending[0]?.id ?? "", BOSS)).finished;
  expect([no.status, deleted]).toEqual(["completed", []]);
  const asked = await caller.runner.send("clean up", ANA);
  const yes = await (await caller.runner.approve(asked.pending[0]?.id ?? "", BOSS)).finished;
  expect(yes.text).toContain("deleted");
  expect(deleted).toEqual(["a"]);
});
