import { expect, test } from "vitest";
import { ManualClock } from "../../src/engine/index.ts";
import { createLedger } from "../../src/stores/index.ts";
import { createDatabaseFile } from "../attack/support/database.ts";
import { effort } from "../support/effort.ts";
import { useResources } from "../support/resources.ts";
import { compareWithModel } from "./grants.ts";

const resources = useResources();

test("whatever is granted, used, lost, settled, revoked and restarted, a grant has what the model says is left", async () => {
  const compared = compareWithModel(
    async () => {
      const file = createDatabaseFile();
      resources.add(async () => file[Symbol.dispose]());
      const clock = new ManualClock();
      return { clock, open: () => createLedger(file.url, { clock }) };
    },
    { runs: effort({ short: 20, long: 300 }) },
  );
  await expect(compared).resolves.toBeUndefined();
}, 240_000);
