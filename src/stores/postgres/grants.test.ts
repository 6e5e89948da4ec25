import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { compareWithModel } from "../../../test/model/grants.ts";
import { effort } from "../../../test/support/effort.ts";
import { createDatabase, DatabaseClock } from "../../../test/support/postgres/database.ts";
import { useResources } from "../../../test/support/resources.ts";
import { ManualClock } from "../../engine/index.ts";
import { openPostgresLedger } from "./open.ts";

const resources = useResources();

// This process carries the database's time forward by its own, which must stand still too.
beforeAll(() => void vi.useFakeTimers({ toFake: ["Date"] }));
afterAll(() => void vi.useRealTimers());

test("whatever is granted, used, lost, settled, revoked and restarted, a grant has what the model says is left", async () => {
  const compared = compareWithModel(
    async () => {
      const [clock, database] = [new ManualClock(), new DatabaseClock()];
      const url = await createDatabase(resources, database);
      const advance = async (ms: number): Promise<void> => {
        await database.advance(ms);
        await clock.advance(ms);
      };
      return { clock, advance, open: () => openPostgresLedger({ url }) };
    },
    { runs: effort({ short: 5, long: 50 }) },
  );
  await expect(compared).resolves.toBeUndefined();
}, 240_000);
