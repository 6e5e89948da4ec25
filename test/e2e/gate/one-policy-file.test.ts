import { describe, expect, test } from "vitest";
import { Engine } from "../../../src/engine/index.ts";
import { tryApprove } from "../../../src/engine/testing/try-decide.ts";
import { LivePolicy, parsePolicy } from "../../../src/policy/index.ts";
import { useResources } from "../../support/resources.ts";
import { asked, ENTRY_POINTS, type OpenEntry } from "./entry-points.ts";
import { OUTSIDE } from "./outside-entry-points.ts";

const resources = useResources();
const BO = { id: "bo", roles: ["boss"] } as const;
const LI = { id: "li", roles: ["boss"] } as const;

const FILE = `
groups: { bosses: ["role:boss"] }
rules:
  - id: look
    match: { tool: erase }
    then: confirm
    reason: look first
    hint: "Erase {{args.path}}?"
    require: [{ from: bosses, count: 2 }]
    notRequester: true
    denials: 2
    expires: 1h
    amendable: [path]
  - id: not-root
    match: { tool: erase }
    when: args.path == "root"
    then: deny
    reason: nothing is left
`;
const DENIES =
  'groups: { bosses: ["role:boss"] }\nrules: [{ id: never, match: { tool: erase }, then: deny, reason: never erase }]';
const HOUR_MS = 3_600_000;
const QUESTION = {
  requirements: [{ from: { roles: ["boss"], notRequester: true }, count: 2, group: "bosses" }],
  denials: 2,
  shown: { why: ["policy rule look: look first"], hint: "Erase a?" },
};
const ALLOWS = "rules: [{ id: free, match: { tool: erase }, then: allow }]";

// A remote agent words its own questions, and its tool has another name.
const DOORS = [...ENTRY_POINTS.filter(([name]) => !name.includes("remote")), ...OUTSIDE];

async function goOn(entry: OpenEntry): Promise<void> {
  await entry.engine.work({ once: true });
  await entry.again?.();
}

describe.each(DOORS)("%s", (name, open) => {
  const isAmendable = !name.includes("MCP") && !name.includes("manifest");

  async function enter(text: string) {
    const policy = new LivePolicy(parsePolicy("policy.yaml", text));
    return { policy, entry: await open(resources, { policy }) };
  }

  async function ask() {
    const opened = await enter(FILE);
    opened.entry.call().catch(() => {});
    return { ...opened, card: await asked(opened.entry) };
  }

  test("is denied, or runs at once, as the file says", async () => {
    const { entry: denied } = await enter(DENIES);
    expect(await denied.call()).toContain("never erase");
    expect([await denied.ran(), (await denied.engine.ledger.confirmations({ state: "open" })).items]).toEqual(
      [0, []],
    );
    const { entry: allowed } = await enter(ALLOWS);
    await allowed.call();
    expect(await allowed.ran()).toBe(1);
  });

  test("asks those whom the file names, in its words, and runs once when they approve", async () => {
    const { entry, card } = await ask();
    const stored = (await entry.engine.ledger.load({ confirmation: card.id }))?.confirmation;
    const { requestedAt = 0, expiresAt = 0 } = stored ?? {};
    expect(expiresAt - requestedAt).toBe(HOUR_MS);
    expect(stored).toMatchObject(QUESTION);
    // A rule only takes away from what the author lets approvers change.
    expect(stored?.shown.amendable).toEqual(isAmendable ? ["path"] : undefined);
    for (const by of [BO, LI]) {
      expect(await entry.ran()).toBe(0);
      expect(await tryApprove(entry.engine, card.id, { by })).toMatchObject({ ok: true });
      await goOn(entry);
    }
    await expect.poll(() => entry.ran()).toBe(1);
  });

  test("is not run with an argument that the file denies", async () => {
    const { entry, card } = await ask();
    const code = isAmendable ? "policy-denied" : "arguments-mismatch";
    const refused = await tryApprove(entry.engine, card.id, { by: BO, args: { path: "root" } });
    expect(refused).toMatchObject({ ok: false, code });
    expect((await asked(entry)).id).toBe(card.id);
    expect(await entry.ran()).toBe(0);
  });

  test.each([
    ["denies it", DENIES, "policy rule never: never erase"],
    ["throws", undefined, "a policy rule failed"],
  ])("is not run if, after its approval, the file %s", async (_, text, reason) => {
    const { entry, card, policy } = await ask();
    const inbox = new Engine({ ledger: entry.engine.ledger, policy });
    for (const by of [BO, LI]) expect(await tryApprove(inbox, card.id, { by })).toMatchObject({ ok: true });
    const next = parsePolicy("policy.yaml", text ?? FILE);
    policy.replace(text === undefined ? { ...next, judge: fails } : next);
    await goOn(entry);
    const after = await entry.engine.ledger.load({ confirmation: card.id });
    expect(after).toMatchObject({
      call: { status: "cancelled" },
      confirmation: { status: "cancelled", withdrawal: reason },
    });
    expect(await entry.ran()).toBe(0);
  });
});

function fails(): never {
  throw new Error("the rule broke");
}
