import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { createDatabase } from "../support/postgres/database.ts";
import { useResources } from "../support/resources.ts";
import { adapterContract } from "./contract/cases.ts";
import { Scene } from "./contract/scene.ts";
import { SUBJECTS } from "./subjects/index.ts";

const resources = useResources();

describe.each(SUBJECTS)("$name", (subject) => {
  describe.each(["sqlite", "postgres"])("on %s", (store) => {
    test.each(adapterContract)("$name", async ({ run }) => {
      const folder = await resources.folder();
      const url =
        store === "sqlite" ? `sqlite:${join(folder, "ledger.db")}` : await createDatabase(resources);
      await expect(run(new Scene(resources, { subject, url, folder }))).resolves.toBeUndefined();
    });
  });
});
