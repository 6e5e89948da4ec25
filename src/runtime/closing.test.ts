import { getEventListeners } from "node:events";
import { afterEach, expect, test, vi } from "vitest";
import { answer, call, play, useRunners } from "../../test/seeds/scripted-runner.ts";
import { useResources } from "../../test/support/resources.ts";
import { Agent, createEngine, Runner, type RunnerOptions, type Tool, tool } from "../index.ts";

const resources = useResources();
const makeRunner = useRunners();
const ana = { user: "ana", session: "s1" } as const;
const byAna = { by: { id: "ana" } } as const;
const CLOSED = { status: "rejected", reason: { code: "closed" } } as const;

const gates: (() => void)[] = [];
afterEach(() => {
  for (const open of gates.splice(0)) open();
});

/** A tool whose body does not end before the test is over. */
function stuckTool(): { readonly wire: Tool; readonly begun: Promise<void> } {
  const begun = Promise.withResolvers<void>();
  const gate = Promise.withResolvers<void>();
  gates.push(gate.resolve);
  const wire = tool({
    name: "wire",
    description: "",
    requireConfirmation: true,
    execute: async () => {
      begun.resolve();
      await gate.promise;
      return "sent";
    },
  });
  return { wire, begun: begun.promise };
}

/** Two processes on one ledger; the first is in the body of a call that was approved. */
async function twoProcesses() {
  const ledger = `sqlite:${await resources.folder()}/ledger.db`;
  const { wire, begun } = stuckTool();
  const options = (): RunnerOptions => ({
    agent: new Agent({ name: "a", model: play([call("wire")], "Sent."), tools: [wire] }),
    ledger,
  });
  const [first, second] = [makeRunner(options()), makeRunner(options())];
  const { pending } = await first.send("wire it", ana);
  const id = String(pending[0]?.id);
  await first.approve(id, byAna);
  await begun;
  return { first, second, id };
}

test.each(["send", "run", "stream", "watch", "approve().finished"] as const)(
  "%s of a run that another process has rejects when its Runner is closed",
  async (method) => {
    const { second, id } = await twoProcesses();
    const uses: Record<typeof method, () => Promise<unknown>> = {
      send: () => second.send(answer(id, { confirmed: true }), ana),
      run: () =>
        drain(second.run({ userId: "ana", sessionId: "s1", message: answer(id, { confirmed: true }) })),
      stream: () =>
        drain(second.stream({ userId: "ana", sessionId: "s1", message: answer(id, { confirmed: true }) })),
      watch: async () => {
        const { ledger } = await second.engine();
        const asked = (await ledger.load({ confirmation: id }))?.confirmation;
        const { session = "", invocation = "" } = asked ?? {};
        return drain(second.watch({ session, invocation, after: 0 }));
      },
      "approve().finished": async () => (await second.approve(id, byAna)).finished,
    };
    const pending = Promise.allSettled([uses[method]()]);
    await waitsForChange(second);
    await second.close();
    expect(await pending).toMatchObject([CLOSED]);
  },
);

test("a Runner that shares an engine is closed without it, and what waited for the Runner rejects", async () => {
  const engine = await createEngine({ ledger: "memory:" });
  const { wire, begun } = stuckTool();
  const model = play([call("wire")], "Sent.");
  const runner = new Runner({ agent: new Agent({ name: "a", model, tools: [wire] }), engine });
  const { pending } = await runner.send("wire it", ana);
  const decided = await runner.approve(String(pending[0]?.id), byAna);
  const waiting = Promise.allSettled([decided.finished]);
  await begun;
  await runner.close();
  expect(await waiting).toMatchObject([CLOSED]);
  await expect(runner.send("again", ana)).rejects.toMatchObject({ code: "closed" });
});

test("answers with words beside them leave no listener behind", async () => {
  const signals = new Set<AbortSignal>();
  const spy = vi.spyOn(AbortSignal.prototype, "addEventListener");
  resources.add(async () => spy.mockRestore());
  const note = tool({ name: "note", description: "", requireConfirmation: true, execute: () => "noted" });
  const rounds = Array.from({ length: 15 }, () => [[call("note")], "Noted.", "Welcome."] as const).flat();
  const runner = makeRunner({ agent: new Agent({ name: "a", model: play(...rounds), tools: [note] }) });
  for (let round = 0; round < 15; round += 1) {
    const { pending } = await runner.send("note it", ana);
    const { parts } = answer(String(pending[0]?.id), { confirmed: true });
    await runner.send({ role: "user", parts: [...parts, { text: "thanks" }] }, ana);
  }
  for (const signal of spy.mock.contexts) signals.add(signal as AbortSignal);
  expect(signals.size).toBeGreaterThan(0);
  const listeners = Array.from(signals, (signal) => getEventListeners(signal, "abort").length);
  // The heartbeat's own sleep is one.
  expect(Math.max(...listeners)).toBeLessThanOrEqual(1);
});

async function drain(events: AsyncIterable<unknown>): Promise<void> {
  for await (const _ of events);
}

/** Nothing to wait for but the ledger's next change. */
async function waitsForChange(runner: Runner): Promise<void> {
  await runner.pending();
  await new Promise((resolve) => setTimeout(resolve, 100));
}
