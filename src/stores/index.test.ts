import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createLedger } from "./index.ts";
import { createDirectory } from "./sqlite/test-support/sqlite-subject.ts";

test.each(["memory:", "sqlite::memory:"])("%s is a ledger of its own in memory", async (url) => {
  const [one, other] = [await createLedger(url), await createLedger({ url })];
  expect(one.digestKey).not.toEqual(other.digestKey);
  await one.close();
  await other.close();
});

test.each([
  ["sqlite:", "ledger.db"],
  ["sqlite://", "ledger.db"],
])("%s and a path is that file", async (scheme, name) => {
  using directory = createDirectory();
  const path = join(directory.path, name);
  const ledger = await createLedger(`${scheme}${path}`, { durability: "full" });
  expect(existsSync(path)).toBe(true);
  await ledger.close();
});

test.each([
  ["postgres://user:secret@host/db", "PostgreSQL"],
  ["mysql://user:secret@host/db", "mysql:"],
  ["countersign.db", "no scheme"],
  ["", "no scheme"],
])("%s is refused with what would be right, and without its password", async (url, problem) => {
  const error: unknown = await createLedger(url).catch((reason: unknown) => reason);
  expect(error).toMatchObject({
    code: "invalid-option",
    message: expect.stringContaining(problem) as unknown,
  });
  expect(error).toMatchObject({ message: expect.stringContaining('"sqlite:path/to/file.db"') as unknown });
  expect(JSON.stringify(error)).not.toContain("secret");
});

test("an unknown durability is refused", async () => {
  const options = { durability: "some" } as unknown as { durability: "full" };
  await expect(createLedger("memory:", options)).rejects.toMatchObject({ code: "invalid-option" });
});
