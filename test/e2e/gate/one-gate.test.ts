import { describe, expect, test } from "vitest";
import { Engine } from "../../../src/engine/index.ts";
import { tryApprove } from "../../../src/engine/testing/try-decide.ts";
import type { Confirmation, Policy, PolicyVerdict } from "../../../src/index.ts";
import { useResources } from "../../support/resources.ts";
import { asked, ENTRY_POINTS, type EntryOptions, type OpenEntry } from "./entry-points.ts";

const resources = useResources();
const BY = { id: "ana" };

type Rule = () => PolicyVerdict | undefined;

/** Rules over the one tool; other tools that an entry point uses are not looked at. */
function policyOf(rule: Rule, seen: unknown[] = []): Policy {
  return (call) => {
    if (call.tool !== "erase" && call.tool !== "delete_file") return undefined;
    seen.push(call.entryPoint);
    return rule();
  };
}

const deny: Rule = () => ({ outcome: "deny", reason: "never erase" });
const confirm: Rule = () => ({ outcome: "confirm", reason: "look first" });
const allow: Rule = () => ({ outcome: "allow", reason: "harmless" });
const fails = (): never => {
  throw new Error("the rule broke");
};

/** Calls, and leaves the caller waiting. */
async function askedAfterCall(entry: OpenEntry): Promise<Confirmation> {
  entry.call().catch(() => {});
  return asked(entry);
}

describe.each(ENTRY_POINTS)("%s", (name, openEntry) => {
  const open = (rule: Rule, options: Omit<EntryOptions, "policy"> = {}): Promise<OpenEntry> =>
    openEntry(resources, { policy: policyOf(rule), ...options });
  const isRemote = name.includes("remote");
  const hasAuthor = name.includes("Runner") || name.includes("function");

  test("is not run when a policy denies it, nobody is asked, and the caller is told why", async () => {
    const entry = await open(deny);
    expect(await entry.call()).toContain(isRemote ? "denied by policy" : "never erase");
    expect((await entry.engine.ledger.confirmations({ state: "open" })).items).toEqual([]);
    expect(await entry.ran()).toBe(0);
  });

  test("waits for a person when a policy says so, with its reason on the card", async () => {
    const entry = await open(confirm);
    expect((await askedAfterCall(entry)).why).toContain("look first");
    expect(await entry.ran()).toBe(0);
  });

  test("is described to the policy with the entry point that it came from", async () => {
    const seen: unknown[] = [];
    const entry = await openEntry(resources, { policy: policyOf(confirm, seen) });
    await askedAfterCall(entry);
    expect(new Set(seen)).toEqual(new Set([ENTRY_POINT_NAMES[name]]));
  });

  test("waits for a person whom somebody else asks for, also when a policy allows it", async () => {
    const entry = await open(allow, { gated: true });
    expect((await askedAfterCall(entry)).why).toHaveLength(1);
    expect(await entry.ran()).toBe(0);
  });

  test("waits for a person when the policy throws, and the card says that a rule failed", async () => {
    const entry = await open(fails);
    expect((await askedAfterCall(entry)).why).toContain("a policy rule failed");
    expect(await entry.ran()).toBe(0);
  });

  test("shows the default hint where its own throws, and says that it did; where it has none, only the default", async () => {
    const entry = await open(confirm, { hint: fails });
    const { hint, why } = await askedAfterCall(entry);
    expect(hint).toBe(`Approve execution of tool ${entry.tool}?`);
    expect(why.includes("its confirmation hint failed, so the default one is shown")).toBe(hasAuthor);
  });

  test("is not run with changed arguments that the policy denies, or that may not be changed", async () => {
    const seen: unknown[] = [];
    const policy: Policy = ({ tool, args }) => {
      if (tool !== "erase" && tool !== "delete_file") return undefined;
      seen.push(args["path"]);
      return args["path"] === "a" ? confirm() : deny();
    };
    const entry = await openEntry(resources, { policy });
    const { id } = await askedAfterCall(entry);
    const refused = await tryApprove(entry.engine, id, { by: BY, args: { path: "b" } });
    expect(refused).toMatchObject({ ok: false, code: hasAuthor ? "policy-denied" : "arguments-mismatch" });
    expect(seen.includes("b")).toBe(hasAuthor);
    expect((await asked(entry)).id).toBe(id);
    expect(await entry.ran()).toBe(0);
  });

  test.each([
    ["denies it", deny, "never erase"],
    ["throws", fails, "a policy rule failed"],
  ])("is not run when, after its approval, the policy %s at the claim", async (_, later, reason) => {
    let rule: Rule = confirm;
    const entry = await open(() => rule());
    const { id } = await askedAfterCall(entry);
    // The approver's process cannot run it.
    const approved = await tryApprove(new Engine({ ledger: entry.engine.ledger }), id, { by: BY });
    expect(approved).toMatchObject({ ok: true, call: { status: "ready" } });
    rule = later;
    await entry.engine.work({ once: true });
    expect(await entry.engine.ledger.load({ confirmation: id })).toMatchObject({
      call: { status: "cancelled" },
      confirmation: { status: "cancelled", withdrawal: reason },
    });
    expect(await entry.ran()).toBe(0);
  });
});

describe.each(ENTRY_POINTS.filter(([name]) => !name.includes("remote")))("%s", (_name, openEntry) => {
  test("runs at once when a policy allows it and nobody else asks", async () => {
    const entry = await openEntry(resources, { policy: policyOf(allow) });
    expect(await entry.call()).toMatch(/erase/);
    expect(await entry.ran()).toBe(1);
  });
});

describe.each(ENTRY_POINTS.slice(0, 2))("%s", (_name, openEntry) => {
  test("waits for a person when its predicate throws", async () => {
    const entry = await openEntry(resources, { policy: policyOf(() => undefined), gated: fails });
    expect((await askedAfterCall(entry)).why).toEqual(["the tool requires confirmation"]);
    expect(await entry.ran()).toBe(0);
  });
});

const ENTRY_POINT_NAMES: { readonly [name: string]: string } = {
  "a Runner's tool": "runner",
  "a gated function": "gate",
  "an MCP gateway's tool": "mcp",
  "a remote agent's call": "remote",
};
