import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { isLong } from "../support/effort.ts";
import { createDatabase } from "../support/postgres/database.ts";
import { useResources } from "../support/resources.ts";
import { adapterContract } from "./contract/cases.ts";
import { Scene } from "./contract/scene.ts";
import { SUBJECTS } from "./subjects/index.ts";

const resources = useResources();

test("what a subject leaves out is a case of the suite", () => {
  const names = adapterContract.map(({ name }) => name);
  for (const { except = {} } of SUBJECTS) expect(names).toEqual(expect.arrayContaining(Object.keys(except)));
});

describe.each(SUBJECTS)("$name", (subject) => {
  const { except = {} } = subject;
  const cases = adapterContract.filter(({ name }) => !Object.hasOwn(except, name));
  // An adapter knows only the engine, so `npm test` has the first one on PostgreSQL, and `npm run test:all` every one.
  const stores = isLong || subject === SUBJECTS[0] ? ["sqlite", "postgres"] : ["sqlite"];
  describe.each(stores)("on %s", (store) => {
    test.each(cases)("$name", async ({ run }) => {
      const folder = await resources.folder();
      const url =
        store === "sqlite" ? `sqlite:${join(folder, "ledger.db")}` : await createDatabase(resources);
      await expect(run(new Scene(resources, { subject, url, folder }))).resolves.toBeUndefined();
    });
  });
});
