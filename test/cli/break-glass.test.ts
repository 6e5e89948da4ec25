import { describe, expect, test } from "vitest";
import { OutcomeUnknown, setLoginMode } from "../../src/engine/index.ts";
import { tryApprove } from "../../src/engine/testing/try-decide.ts";
import { type Folder, makeFolder } from "../support/processes/command-line.ts";

const by = { id: "ana" };

interface Asked {
  readonly open: string;
  readonly named: string;
  readonly lost: string;
}

/** One question of each kind; people log in to this ledger, unless a test says otherwise. */
async function ask(folder: Folder, { guarded = true } = {}): Promise<Asked> {
  return folder.withEngine(async (engine) => {
    const asked = async (name: string, options: object, body: () => Promise<null>): Promise<string> => {
      const outcome = await engine.gate(
        name,
        { requireConfirmation: true, ...options },
        body,
      )({}, { key: "k", by });
      return outcome.status === "pending" ? outcome.confirmation.id : "";
    };
    const open = await asked("pay", {}, async () => null);
    const named = await asked("wire", { approvers: { roles: ["manager"] } }, async () => null);
    const lost = await asked("lose", {}, async () => {
      throw new OutcomeUnknown("the line went dead");
    });
    const decided = await tryApprove(engine, lost, { by });
    if (decided.ok) await decided.finished;
    if (guarded) await setLoginMode(engine.ledger.items, "tokens");
    return { open, named, lost };
  });
}

const COMMANDS: readonly [string, (asked: Asked) => readonly string[]][] = [
  ["approve", ({ open }) => ["approve", open]],
  ["deny", ({ open }) => ["deny", open]],
  ["cancel", ({ open }) => ["cancel", open, "--reason", "off"]],
  ["settle", ({ lost }) => ["settle", lost, "--failed", "no"]],
];

async function journal(folder: Folder): Promise<readonly { readonly kind: string; readonly body: string }[]> {
  const records = await folder.withEngine((engine) =>
    engine.ledger.journal.records({ after: 0, limit: 1_000 }),
  );
  return records.map(({ kind, body }) => ({ kind, body: JSON.stringify(body) }));
}

describe("where people log in to decide", () => {
  test.each(COMMANDS)("%s is refused from here, and that is journalled", async (_, args) => {
    const folder = makeFolder();
    const asked = await ask(folder);
    const before = await journal(folder);
    const refused = folder.run(args(asked));
    expect(refused).toMatchObject({ code: 5, stdout: "" });
    expect(refused.stderr).toMatch(/--auth tokens.*--break-glass.*\[forbidden\]\n$/s);
    const added = (await journal(folder)).slice(before.length);
    expect(added.map(({ kind }) => kind)).toEqual(["decision-refused"]);
    expect(added[0]?.body).toContain(`"forbidden"`);
    expect(folder.json(["show", asked.open])).toMatchObject({ status: "requested" });
    expect(folder.json(["show", asked.lost])).toMatchObject({ status: "unknown" });
  });

  test.each(COMMANDS)("%s --break-glass does it, and the journal says so", async (_, args) => {
    const folder = makeFolder();
    const asked = await ask(folder);
    expect(folder.run([...args(asked), "--break-glass"])).toMatchObject({ code: 0, stderr: "" });
    expect(JSON.stringify((await journal(folder)).at(-1))).toContain("cli:break-glass");
  });

  test("breaking the glass does not make an approver of anybody", async () => {
    const folder = makeFolder();
    const { named } = await ask(folder);
    const refused = folder.run(["approve", named, "--break-glass"]);
    expect(refused.code).toBe(5);
    expect(refused.stderr).toMatch(/\[not-an-approver\]\n$/);
  });

  test("looking is not deciding", async () => {
    const folder = makeFolder();
    const { open } = await ask(folder);
    expect(folder.run(["show", open]).code).toBe(0);
    expect(folder.run(["pending"]).code).toBe(0);
  });
});

test("the environment's COUNTERSIGN_AUTH counts like the ledger's", async () => {
  const folder = makeFolder();
  const { open } = await ask(folder, { guarded: false });
  expect(folder.run(["approve", open], { COUNTERSIGN_AUTH: "oidc" })).toMatchObject({ code: 5 });
  expect(folder.run(["approve", open], { COUNTERSIGN_AUTH: "none" })).toMatchObject({ code: 0 });
});

test("without a login --break-glass changes nothing", async () => {
  const folder = makeFolder();
  const { open } = await ask(folder, { guarded: false });
  expect(folder.run(["approve", open, "--break-glass"])).toMatchObject({ code: 0 });
  expect(JSON.stringify(await journal(folder))).not.toContain("break-glass");
});
