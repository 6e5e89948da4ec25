import { expect, test } from "vitest";
import { type Folder, makeFolder } from "../support/processes/command-line.ts";

const REASON = "https://siem.example answered 422.\u001b[2J";

/** An export that has set two records aside, and forgot the numbers of three. */
async function record(folder: Folder): Promise<void> {
  await folder.withEngine(async ({ ledger }) => {
    const newest = [8192, 12288].map((seq) => ({
      seq,
      id: `rec_${seq}`,
      at: Date.UTC(2026, 0, 1),
      reason: REASON,
    }));
    const value = { seq: 20480, hash: "x", heldUntil: 0, setAside: { count: 5, newest } };
    await ledger.items.put({ kind: "siem", id: "siem", value }, 0);
  });
}

test("lists what exports have set aside, sends it again, and forgets it", async () => {
  const folder = makeFolder();
  await record(folder);
  const { code, stdout } = folder.run(["siem", "list"]);
  expect(code).toBe(0);
  expect(stdout).toMatch(/^siem 8192 {2}set aside 2026-01-01/m);
  expect(stdout).toContain("│ https://siem.example answered 422.");
  expect(stdout).toContain("3 older ones");
  expect(stdout).not.toContain("\u001b[2J");
  for (const line of stdout.split("\n")) expect(line.length).toBeLessThanOrEqual(80);
  expect(folder.run(["siem", "retry", "siem", "8192"])).toEqual({
    code: 0,
    stdout: "To be sent again: siem 8192.\n",
    stderr: "",
  });
  expect(folder.run(["siem", "list"]).stdout).toMatch(/^siem 8192 {2}to be sent again /m);
  expect(folder.json(["siem", "retry", "--all"])).toEqual({ queued: 2 });
  expect(folder.json(["siem", "drop", "siem", "12288"])).toEqual({ dropped: 1 });
  expect(folder.json(["siem", "list"])).toMatchObject({
    items: [{ name: "siem", count: 4, newest: [{ seq: 8192, again: true }] }],
  });
  expect(folder.json(["siem", "drop", "--all"])).toEqual({ dropped: 4 });
  expect(folder.run(["siem", "list"]).stdout).toBe("No export has set a record aside.\n");
  const again = folder.run(["siem", "drop", "siem", "8192"]);
  expect({ code: again.code, stdout: again.stdout }).toEqual({ code: 3, stdout: "" });
  expect(again.stderr).toMatch(
    /The record 8192 of the export .* is not set aside\..*\[unknown-delivery\]\n$/,
  );
});

test.each([
  [["retry"], "needs --all, or an export and a number"],
  [["drop", "siem"], "needs --all, or an export and a number"],
  [["retry", "siem", "first"], '"first" is not a record\'s number'],
  [["drop", "siem", "1", "--all"], "--all or one record"],
])("`siem %j` is told in one line, with exit code 2", async (args, message) => {
  const folder = makeFolder();
  await folder.withEngine(async () => {});
  const { code, stdout, stderr } = folder.run(["siem", ...args]);
  expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
  expect(stderr).toContain(message);
});
