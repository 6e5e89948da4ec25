import { expect, test } from "vitest";
import { createDatabase } from "../../../test/support/postgres/database.ts";
import { useResources } from "../../../test/support/resources.ts";
import {
  Engine,
  type PublishRun,
  partsOf,
  publishReceipts,
  type ReceiptTarget,
  receiptKeyOf,
  verifyReceipts,
} from "../../engine/index.ts";
import { openPostgresLedger } from "./open.ts";

const SECRET = "a secret that only the processes know";
const ROUNDS = 10;
const resources = useResources();

async function* each(lines: readonly string[]): AsyncGenerator<string> {
  yield* lines;
}

test("two processes that publish at once make one series, which the journal contains", async () => {
  const url = await createDatabase(resources);
  const open = async (): Promise<Engine> => {
    const engine = new Engine({ ledger: await openPostgresLedger({ url, migrate: true }), secret: SECRET });
    resources.add(() => engine.close());
    return engine;
  };
  const [one, two] = [await open(), await open()];
  const lines: string[] = [];
  let refusals = 0;
  let isFlaky = true;
  const target: ReceiptTarget = {
    name: "both",
    keep: async (receipt) => {
      lines.push(JSON.stringify(receipt));
      // It got it, and the answer is lost: the same one comes again.
      const isLost = isFlaky && receipt.number % 3 === 0 && refusals < receipt.number / 3;
      if (isLost) refusals += 1;
      return isLost ? { ok: false, reason: "no answer" } : { ok: true };
    },
  };
  const publish = (engine: Engine): Promise<PublishRun> =>
    publishReceipts(partsOf(engine), { targets: [target] });
  for (let round = 0; round < ROUNDS; round += 1) {
    await one.createSession({ app: "bank", user: "ana", id: `s${round}` });
    const runs = await Promise.all([publish(one), publish(two)]);
    expect(runs.filter(({ ended }) => ended === "done").length).toBeGreaterThan(0);
  }
  isFlaky = false;
  expect(await publish(one)).toMatchObject({ failed: 0, ended: "done" });
  const repeated = lines.length - new Set(lines).size;
  expect(repeated).toBe(refusals);
  expect(refusals).toBeGreaterThan(1);
  const checked = await verifyReceipts([{ name: "kept", lines: each(lines) }], {
    key: receiptKeyOf(SECRET),
    ledger: two.ledger,
  });
  expect(checked).toMatchObject({ ok: true, faults: [], receipts: lines.length - repeated });
});
