import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ROOT } from "../../scripts/command.ts";
import { Engine, ManualClock } from "../../src/engine/index.ts";
import { createLedger } from "../../src/index.ts";
import { type Folder, makeFolder } from "../support/processes/command-line.ts";

const GUIDE = readFileSync(join(ROOT, "docs/guides/retention.md"), "utf8");
const DAY_MS = 86_400_000;

function blocks(mark: string, language: string): readonly string[] {
  const fenced = GUIDE.matchAll(
    new RegExp(`^<!-- ${mark} -->\n\n\`\`\`${language}\n([\\s\\S]*?)^\`\`\`$`, "gm"),
  );
  return Array.from(fenced, ([, text = ""]) => text);
}

/** The commands of the guide, as words. */
const LINES = blocks("commands", "sh").flatMap((block) =>
  block
    .split("\n")
    .filter((line) => line.startsWith("npx countersign "))
    .map((line) =>
      Array.from(
        line.replace(/ +#.*$/, "").matchAll(/"([^"]*)"|(\S+)/g),
        ([, quoted, word]) => quoted ?? word ?? "",
      ).slice(2),
    ),
);

/** Sessions that were used a hundred days ago. */
async function withOldSessions(folder: Folder, ...ids: readonly string[]): Promise<void> {
  const clock = new ManualClock(Date.now() - 100 * DAY_MS);
  const engine = new Engine({ ledger: await createLedger(folder.ledger, { clock }), clock });
  for (const id of ids) await engine.createSession({ app: "bank", user: "ana", id }, { note: "a note" });
  await engine.close();
}

test("the guide's file is understood, and its commands run in this order", async () => {
  const folder = makeFolder();
  folder.write("retention.yaml", blocks("retention.yaml", "yaml")[0] ?? "");
  await withOldSessions(folder, "s1");
  expect(LINES.length).toBeGreaterThanOrEqual(5);
  for (const words of LINES)
    expect(folder.run(words), words.join(" ")).toMatchObject({ code: 0, stderr: "" });
  expect(folder.run(["hold", "list"]).stdout).toMatch(/user ana .*case 2031[\s\S]*app payments/);
  expect(folder.run(["audit", "verify"]).code).toBe(0);
});

test("a hold stops plan, run and prune, until it is released with a reason", async () => {
  const folder = makeFolder();
  folder.write("r.yaml", "retention: [{ content: 90d }]");
  await withOldSessions(folder, "s1", "s2");
  const hold = folder.json(["hold", "add", "--session", "bank/ana/s1", "--reason", "case 7"]) as {
    readonly id: string;
  };
  const planned = folder.run(["retention", "plan", "r.yaml"]).stdout;
  expect(planned).toContain(`kept by hold ${hold.id}`);
  expect(planned).toContain("Would erase the content of 1 session; holds keep 1 session.");
  const pruned = folder.run(["prune", "--older-than", "90d"]);
  expect(pruned).toMatchObject({ code: 4, stdout: expect.stringContaining("1 session.") as string });
  expect(pruned.stderr).toContain(`hold release ${hold.id}`);
  expect(folder.json(["retention", "run", "r.yaml"])).toEqual({ erased: 0, held: 1, ended: "done" });
  expect(folder.run(["hold", "release", hold.id]).stderr).toContain("--reason");
  expect(folder.run(["hold", "release", hold.id, "--reason", "closed"]).code).toBe(0);
  expect(folder.json(["retention", "run", "r.yaml"])).toEqual({ erased: 1, held: 0, ended: "done" });
  expect(folder.run(["audit", "verify"]).code).toBe(0);
});

test("a file with a mistake is refused with its place, by `retention` and by `serve`", () => {
  const folder = makeFolder();
  folder.write("r.yaml", "retention:\n  - { content: soon }");
  for (const words of [
    ["retention", "run", "r.yaml"],
    ["serve", "--inbox-only", "--retention", "r.yaml"],
  ]) {
    const { code, stderr } = folder.run(words);
    expect({ code, stderr }, words.join(" ")).toEqual({
      code: 2,
      stderr: expect.stringContaining('r.yaml:2:16: content is "soon"') as string,
    });
  }
});

test("a server runs it on a schedule", async () => {
  const folder = makeFolder();
  folder.write("r.yaml", "retention: [{ content: 90d }]");
  await withOldSessions(folder, "s1");
  const server = folder.start(["serve", "--inbox-only", "--port", "0", "--retention", "r.yaml"]);
  await server.until(/"erased":1,.*"msg":"retention ran"/);
  server.signal("SIGTERM");
  expect(await server.ended()).toMatchObject({ code: 0 });
});
