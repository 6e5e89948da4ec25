import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, test } from "vitest";
import { FINGERPRINT, fingerprints } from "../../src/stores/sql/fingerprint.ts";
import { type Database, openDatabase } from "../../src/stores/sqlite/connection/database.ts";
import { migrate } from "../../src/stores/sqlite/schema/migrate.ts";
import { MIGRATIONS } from "../../src/stores/sqlite/schema/schema.ts";
import { useResources } from "../support/resources.ts";
import { Race, type RacerHandle } from "./race.ts";

const resources = useResources();
const OUR_MARK = 0x4353474e;

test("processes that open a new ledger at the same moment all find it made, and theirs", async () => {
  for (let round = 0; round < 5; round++) {
    const race = await Race.on(resources);
    const racers = await Promise.all(["a", "b", "c", "d"].map((name) => race.racer(name)));
    const { status } = await race.open(racers[round % 4] as RacerHandle, "quick");
    expect(status).toBe("pending");
  }
});

test("a ledger that another process creates between two checks is not taken for another program's", async () => {
  for (let looks = 1; looks <= 3; looks++) {
    const folder = await resources.folder();
    const path = join(folder, "ledger.db");
    const database = await openDatabase({ path, alwaysSync: false });
    resources.add(() => database.close());
    afterLooks(database, looks, () => makeLedger(path));
    await expect(migrate(database, MIGRATIONS), `made after ${looks} looks`).resolves.toBeUndefined();
  }
});

function afterLooks(database: Database, looks: number, then: () => void): void {
  const get = database.get.bind(database);
  let done = 0;
  database.get = (...args) => {
    const row = get(...args);
    done += 1;
    if (done === looks) then();
    return row;
  };
}

function makeLedger(path: string): void {
  const other = new DatabaseSync(path);
  other.exec("begin immediate");
  for (const migration of MIGRATIONS) {
    for (const text of migration.texts) other.exec(text);
    migration.fill?.(other);
  }
  const keep = other.prepare("insert into meta (name, value) values (?, ?)");
  for (const [version, hash] of fingerprints(MIGRATIONS)) keep.run(`${FINGERPRINT}${version}`, hash);
  other.exec(`pragma user_version = ${MIGRATIONS.length}; pragma application_id = ${OUR_MARK}; commit`);
  other.close();
}
