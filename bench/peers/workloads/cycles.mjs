// Message, pause, approval, tool, last words; a fresh session each, one or many in flight.
import { loadavg } from "node:os";
import { emptySamples } from "../lib/bench.mjs";

const FIRST = 20;

export async function cycles(bench, store, inFlight = 1) {
  const { rounds, targetMs, warmMs } = bench.options;
  const list = bench.forStore(store, `${store}${inFlight}`);
  const rates = emptySamples(list);
  const cpuMsPerCycle = emptySamples(list);
  const pragmas = {};
  const batch = {};
  const opened = (worker, work) => inFreshStore(bench, { worker, store }, work);
  const { failed, nodes } = await bench.withWorkers(store, list, async (attempt) => {
    for (const name of list) {
      await attempt(name, (worker) =>
        opened(worker, async () => {
          const began = performance.now();
          let last;
          do last = await worker.call("cycles", { n: FIRST * inFlight, concurrency: inFlight });
          while (performance.now() - began < warmMs);
          pragmas[name] = await worker.call("pragmas");
          batch[name] = Math.max(inFlight * 4, Math.round((last.n / last.ms) * targetMs));
        }),
      );
    }
    await bench.rounds(rounds, list, (name) =>
      attempt(name, (worker) =>
        opened(worker, async () => {
          const { n, ms, cpuMs } = await worker.call("cycles", { n: batch[name], concurrency: inFlight });
          rates[name].push((n / ms) * 1_000);
          cpuMsPerCycle[name].push(cpuMs / n);
        }),
      ),
    );
  });
  return { store, inFlight, rates, cpuMsPerCycle, failed, nodes, pragmas, batch, load: loadavg() };
}

async function inFreshStore(bench, { worker, store }, work) {
  await worker.call("open", await bench.place(store));
  // Connections and what is set up on first use are not timed; some fail when a user's very first sessions are many.
  await worker.call("cycles", { n: 2 });
  await work();
  await worker.call("close");
}
