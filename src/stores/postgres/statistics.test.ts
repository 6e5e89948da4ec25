import { expect, test } from "vitest";
import { statisticsAgree } from "../../../test/model/statistics.ts";
import { createDatabase } from "../../../test/support/postgres/database.ts";
import { useResources } from "../../../test/support/resources.ts";
import { createEngine } from "../../index.ts";

const resources = useResources();

test("the numbers of /v1/stats are those that the journal's records add up to", async () => {
  const engine = await createEngine({ ledger: await createDatabase(resources) });
  resources.add(() => engine.close());
  expect(await statisticsAgree(engine)).toBe(13);
});
