import { expect, test } from "vitest";
import { wrapLedger } from "../../../test/support/ledger/ledger-proxy.ts";
import { useResources } from "../../../test/support/resources.ts";
import { createLedger } from "../../stores/index.ts";
import { ManualClock } from "../common/index.ts";
import { SessionWriter } from "../ledger/contract/build.ts";
import { DEFAULT_DELIVERY_SETTINGS } from "./delivery-settings.ts";
import { OutboxWorker } from "./outbox-worker.ts";

const resources = useResources();
const QUEUE = "webhook";
const NEWS = "confirmation-requested";
const SECOND = 1_000;
const TICK = 10;

test("while another process fills the queue, a worker seldom reads for it, and fills it once the other is gone", async () => {
  const clock = new ManualClock(Date.UTC(2026, 0, 1));
  const ledger = await createLedger("memory:", { clock });
  resources.add(() => ledger.close());
  await ledger.outbox.channelPlace(QUEUE);
  const writer = new SessionWriter(ledger, "s1");
  await writer.commit([writer.journal(NEWS)]);
  let isOtherThere = true;
  let tried = 0;
  const { outbox } = ledger;
  const beside = wrapLedger(ledger, {
    outbox: {
      async enqueue(batch) {
        tried += 1;
        return isOtherThere ? false : outbox.enqueue(batch);
      },
    },
  });
  const sent: number[] = [];
  const worker = new OutboxWorker({
    ledger: beside,
    queue: { name: QUEUE, wants: ({ kind }) => kind === NEWS },
    clock,
    settings: DEFAULT_DELIVERY_SETTINGS,
    sender:
      () =>
      async ({ seq }) => {
        sent.push(seq);
        return { ok: true };
      },
    onFailure: () => {},
    onError: () => {},
  });
  resources.add(() => worker.stop());
  for (let at = 0; at < SECOND; at += TICK) await clock.advance(TICK);
  expect(tried).toBeGreaterThan(2);
  expect(tried).toBeLessThan(8);
  isOtherThere = false;
  for (let at = 0; at < SECOND && sent.length === 0; at += TICK) await clock.advance(TICK);
  expect(sent).toHaveLength(1);
});
