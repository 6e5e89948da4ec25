import { describe, expect, test } from "vitest";
import { useResources } from "../support/resources.ts";
import { openDesk } from "./a2a-desk.ts";
import { openOffice, order } from "./remote-stage.ts";

const resources = useResources();
const ANA = { user: "ana" };
const BOSS = { by: { id: "ana" } };
const DELETE = { id: "call-1", name: "delete_file", args: { path: "a" } };
const WRITE = { id: "call-2", name: "write_file", args: { path: "b" } };
const READ = { id: "call-3", name: "read_file", args: { path: "c" } };

describe.each(["tool", "transfer"] as const)("a remote agent by %s", (by) => {
  test("what needs nobody there is done, and its words come back", async () => {
    const desk = await openDesk(resources);
    const office = await openOffice(resources, desk.url, { by });
    const turn = await office.runner.send(order(READ), ANA);
    expect([turn.status, turn.text.includes("read_file")]).toEqual(["completed", true]);
    expect(desk.ran).toEqual([{ name: "read_file", args: { path: "c" } }]);
  });

  test("its call is shown here, and approved here it runs there, once", async () => {
    const desk = await openDesk(resources);
    const office = await openOffice(resources, desk.url, { by });
    const turn = await office.runner.send(order(DELETE), ANA);
    expect(turn.status).toBe("paused");
    const [shown] = turn.pending;
    expect(shown).toMatchObject({ tool: "delete_file", args: { path: "a" }, source: "desk", agent: "desk" });
    expect(shown?.path.at(-1)).toBe("desk");
    expect(desk.ran).toEqual([]);
    const decided = await office.runner.approve(shown?.id ?? "", BOSS);
    const done = await decided.finished;
    expect([done.status, done.text.includes("ok")]).toEqual(["completed", true]);
    expect(desk.ran).toEqual([{ name: "delete_file", args: { path: "a" } }]);
  });

  test("a denial is handed over with its reason, and nothing runs", async () => {
    const desk = await openDesk(resources);
    const office = await openOffice(resources, desk.url, { by });
    const { pending } = await office.runner.send(order(DELETE), ANA);
    const decided = await office.runner.deny(pending[0]?.id ?? "", { ...BOSS, reason: "not today" });
    const done = await decided.finished;
    expect(done.status).toBe("completed");
    expect(done.text).toContain("not today");
    expect(desk.ran).toEqual([]);
  });
});
