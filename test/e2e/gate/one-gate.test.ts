import { describe, expect, test } from "vitest";
import { Engine, toConfirmation } from "../../../src/engine/index.ts";
import { tryApprove } from "../../../src/engine/testing/try-decide.ts";
import type { Confirmation, Policy, PolicyVerdict } from "../../../src/index.ts";
import { useResources } from "../../support/resources.ts";
import { DOORS, type DoorOptions, type OpenDoor } from "./four-doors.ts";

const resources = useResources();
const BY = { id: "ana" };

type Rule = () => PolicyVerdict | undefined;

/** Rules over the one tool; what else a door does on the way is nobody's business here. */
function policyOf(rule: Rule, seen: unknown[] = []): Policy {
  return (call) => {
    if (call.tool !== "erase" && call.tool !== "delete_file") return undefined;
    seen.push(call.door);
    return rule();
  };
}

const deny: Rule = () => ({ outcome: "deny", reason: "never erase" });
const confirm: Rule = () => ({ outcome: "confirm", reason: "look first" });
const allow: Rule = () => ({ outcome: "allow", reason: "harmless" });
const fails = (): never => {
  throw new Error("the rule broke");
};

async function asked({ engine }: OpenDoor): Promise<Confirmation> {
  const open = async () => (await engine.ledger.confirmations({ state: "open" })).items;
  await expect.poll(open).toHaveLength(1);
  const [item] = await open();
  if (item === undefined) throw new Error("Nothing is open.");
  return toConfirmation(item);
}

/** Calls, and leaves the caller waiting. */
async function askedAfterCall(door: OpenDoor): Promise<Confirmation> {
  door.call().catch(() => {});
  return asked(door);
}

describe.each(DOORS)("%s", (name, openDoor) => {
  const open = (rule: Rule, options: Omit<DoorOptions, "policy"> = {}): Promise<OpenDoor> =>
    openDoor(resources, { policy: policyOf(rule), ...options });
  const isRemote = name.includes("remote");
  const hasAuthor = name.includes("Runner") || name.includes("function");

  test("is not run when a policy denies it, nobody is asked, and the caller is told why", async () => {
    const door = await open(deny);
    expect(await door.call()).toContain(isRemote ? "denied by policy" : "never erase");
    expect((await door.engine.ledger.confirmations({ state: "open" })).items).toEqual([]);
    expect(await door.ran()).toBe(0);
  });

  test("waits for a person when a policy says so, with its reason on the card", async () => {
    const door = await open(confirm);
    expect((await askedAfterCall(door)).why).toContain("look first");
    expect(await door.ran()).toBe(0);
  });

  test("is described to the policy with the door it came through", async () => {
    const seen: unknown[] = [];
    const door = await openDoor(resources, { policy: policyOf(confirm, seen) });
    await askedAfterCall(door);
    expect(new Set(seen)).toEqual(new Set([DOOR_NAMES[name]]));
  });

  test("waits for a person whom somebody else asks for, also when a policy allows it", async () => {
    const door = await open(allow, { gated: true });
    expect((await askedAfterCall(door)).why).toHaveLength(1);
    expect(await door.ran()).toBe(0);
  });

  test("waits for a person when the policy throws, and the card says that a rule failed", async () => {
    const door = await open(fails);
    expect((await askedAfterCall(door)).why).toContain("a policy rule failed");
    expect(await door.ran()).toBe(0);
  });

  test("shows the default hint where its own throws, and says that it did; where it has none, only the default", async () => {
    const door = await open(confirm, { hint: fails });
    const { hint, why } = await askedAfterCall(door);
    expect(hint).toBe(`Approve execution of tool ${door.tool}?`);
    expect(why.includes("its confirmation hint failed, so the default one is shown")).toBe(hasAuthor);
  });

  test("is not run with changed arguments that the policy denies, or that may not be changed", async () => {
    const seen: unknown[] = [];
    const policy: Policy = ({ tool, args }) => {
      if (tool !== "erase" && tool !== "delete_file") return undefined;
      seen.push(args["path"]);
      return args["path"] === "a" ? confirm() : deny();
    };
    const door = await openDoor(resources, { policy });
    const { id } = await askedAfterCall(door);
    const refused = await tryApprove(door.engine, id, { by: BY, args: { path: "b" } });
    expect(refused).toMatchObject({ ok: false, code: hasAuthor ? "policy-denied" : "arguments-mismatch" });
    expect(seen.includes("b")).toBe(hasAuthor);
    expect((await asked(door)).id).toBe(id);
    expect(await door.ran()).toBe(0);
  });

  test.each([
    ["denies it", deny, "never erase"],
    ["throws", fails, "a policy rule failed"],
  ])("is not run when, after its approval, the policy %s at the claim", async (_, later, reason) => {
    let rule: Rule = confirm;
    const door = await open(() => rule());
    const { id } = await askedAfterCall(door);
    // The approver's process cannot run it.
    const approved = await tryApprove(new Engine({ ledger: door.engine.ledger }), id, { by: BY });
    expect(approved).toMatchObject({ ok: true, call: { status: "ready" } });
    rule = later;
    await door.engine.work({ once: true });
    expect(await door.engine.ledger.load({ confirmation: id })).toMatchObject({
      call: { status: "cancelled" },
      confirmation: { status: "cancelled", withdrawal: reason },
    });
    expect(await door.ran()).toBe(0);
  });
});

describe.each(DOORS.filter(([name]) => !name.includes("remote")))("%s", (_name, openDoor) => {
  test("runs at once when a policy allows it and nobody else asks", async () => {
    const door = await openDoor(resources, { policy: policyOf(allow) });
    expect(await door.call()).toMatch(/erase/);
    expect(await door.ran()).toBe(1);
  });
});

describe.each(DOORS.slice(0, 2))("%s", (_name, openDoor) => {
  test("waits for a person when its predicate throws", async () => {
    const door = await openDoor(resources, { policy: policyOf(() => undefined), gated: fails });
    expect((await askedAfterCall(door)).why).toEqual(["the tool requires confirmation"]);
    expect(await door.ran()).toBe(0);
  });
});

const DOOR_NAMES: { readonly [name: string]: string } = {
  "a Runner's tool": "runner",
  "a gated function": "gate",
  "an MCP gateway's tool": "mcp",
  "a remote agent's call": "remote",
};
