import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { useResources } from "../../test/support/resources.ts";
import { createLedger } from "./index.ts";

const resources = useResources();

test.each(["memory:", "sqlite::memory:"])("%s is a ledger of its own in memory", async (url) => {
  const [one, other] = [await createLedger(url), await createLedger({ url })];
  expect(one.digestKey).not.toEqual(other.digestKey);
  await one.close();
  await other.close();
});

test.each(["sqlite:", "sqlite://"])("%s and a path is that file", async (scheme) => {
  const path = join(await resources.folder(), "ledger.db");
  const ledger = await createLedger(`${scheme}${path}`, { durability: "full" });
  expect(existsSync(path)).toBe(true);
  await ledger.close();
});

test.each([
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
