import { expect, test } from "vitest";
import { Agent, createLedger, type Ledger, type Runner, tool } from "../../src/index.ts";
import { call, respond, resultsIn, useRunners } from "../seeds/scripted-runner.ts";
import { wrapLedger } from "../support/ledger/ledger-proxy.ts";
import { useResources } from "../support/resources.ts";

const resources = useResources();
const makeRunner = useRunners();
const byAna = { by: { id: "ana" } };

/** A moment that others wait for. */
type Moment = PromiseWithResolvers<void>;

interface Moments {
  readonly read: Moment;
  readonly go: Moment;
  readonly looked: Moment;
}

/** A ledger that tells when it has read the frames, gives them out when it may, and tells when it read calls. */
function dawdling(inner: Ledger, { read, go, looked }: Moments): Ledger {
  return wrapLedger(inner, {
    async liveFrames(session) {
      const frames = await inner.liveFrames(session);
      read.resolve();
      await go.promise;
      return frames;
    },
    async calls(ids) {
      const calls = await inner.calls(ids);
      looked.resolve();
      return calls;
    },
  });
}

test("a watcher in another process does not see the run as over between a result and the next text", async () => {
  const path = `sqlite:${await resources.folder()}/ledger.db`;
  const [read, go, looked, inTool, paid, asked, speak] = Array.from({ length: 7 }, () =>
    Promise.withResolvers<void>(),
  ) as [Moment, Moment, Moment, Moment, Moment, Moment, Moment];
  const pay = tool({
    name: "pay",
    description: "",
    requireConfirmation: true,
    execute: async () => {
      inTool.resolve();
      await paid.promise;
      return "paid";
    },
  });
  const model = respond(async (request) => {
    if (resultsIn(request).length === 0) return [call("pay")];
    asked.resolve();
    await speak.promise;
    return "It is paid.";
  });
  const runnerOn = (ledger: Ledger): Runner =>
    makeRunner({ ledger, agent: new Agent({ name: "a", model, tools: [pay] }) });
  const one = runnerOn(await createLedger(path));
  const other = runnerOn(dawdling(await createLedger(path), { read, go, looked }));

  const [pending] = (await one.send("Pay.", { user: "ana" })).pending;
  const id = String(pending?.id);
  const { finished } = await one.approve(id, byAna);
  await inTool.promise;
  const told = (await other.approve(id, byAna)).finished;
  // It has seen a frame that waits for its call; before it looks at the call, that is answered.
  await read.promise;
  paid.resolve();
  await asked.promise;
  go.resolve();
  await looked.promise;
  speak.resolve();
  expect(await finished).toMatchObject({ status: "completed", text: "It is paid." });
  expect(await told).toMatchObject({ status: "completed", text: "It is paid." });
});
