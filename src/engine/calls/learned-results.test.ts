import { expect, test } from "vitest";
import { createLedger } from "../../stores/index.ts";
import { ManualClock } from "../common/manual-clock.ts";
import { Engine } from "../engine.ts";
import { finishFrame, partsOf, receiveMessage, recordTurn } from "../index.ts";
import { ask, hostOf, message, modelSays, planned, pumped, toolOf } from "../testing/execution.ts";
import { tryApprove } from "../testing/try-decide.ts";
import { CallEnd } from "./call-end.ts";

/** As a remote agent does that asks `count` questions in one pause: they are approved, then it is told of them together. */
async function handOver(count: number): Promise<readonly (string | undefined)[]> {
  const clock = new ManualClock();
  const ledger = await createLedger("memory:", { clock });
  const engine = new Engine({ ledger, clock });
  const ids = Array.from({ length: count }, (_, at) => `c${at}`);
  let key = "";
  let runs = 0;
  const tell = {
    ...toolOf(() => null),
    run: async () => {
      runs += 1;
      return new CallEnd({
        result: "told",
        learned: Object.fromEntries(ids.map((id) => [`${key}.${id}`, "handed over"])),
      });
    },
  };
  engine.host(
    hostOf("bank", { pay: toolOf(() => "to be handed"), tell }, async (frame) => {
      key = frame.session;
      const parts = partsOf(engine);
      if (frame.turn === 0)
        await recordTurn(parts, frame, {
          event: modelSays("pay"),
          calls: ids.map((id) => planned(id, "pay", ask())),
        });
      else if (frame.turn === 1)
        await recordTurn(parts, frame, { event: modelSays("tell"), calls: [planned("tell", "tell", ask())] });
      else await finishFrame(parts, frame, { status: "done", event: modelSays("done") });
    }),
  );
  const received = await receiveMessage(partsOf(engine), {
    ...message({ app: "bank", user: "ana", id: "s" }, "go"),
    frame: { kind: "remote", agent: "bot", path: ["bot"] },
  });
  if (!received.ok) throw new Error(received.message);
  partsOf(engine).executions.step(received.frame);
  await pumped(clock, partsOf(engine).executions.idle());
  for (let round = 0; round < 2; round += 1) {
    for (const { confirmation } of (await ledger.confirmations({ state: "open" })).items) {
      const decided = await tryApprove(engine, confirmation.id, { by: { id: "ana" } });
      if (decided.ok && round === 0) await pumped(clock, decided.finished);
    }
    await pumped(clock, partsOf(engine).executions.idle());
  }
  const calls = await ledger.calls([`${key}.tell`, `${key}.c0`]);
  expect(runs).toBe(1);
  await ledger.close();
  return calls.map(({ status, result }) => `${status} ${JSON.stringify(result)}`);
}

test.each([4, 5, 17, 20])(
  "the results of %d earlier calls of a frame are learned",
  async (count) => {
    expect(await handOver(count)).toEqual(['succeeded "told"', 'succeeded "handed over"']);
  },
  60_000,
);
