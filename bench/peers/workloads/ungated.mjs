// What a call that needs nobody costs inside the loop: 50 turns of one call, and one turn of 50.
import { emptySamples } from "../lib/bench.mjs";

const CALLS = 50;
const REPEATS = { seq: 6, par: 12 };
const DIRECT = 1e6;

export async function ungated(bench) {
  const list = bench.forStore("memory");
  const samples = { seq: emptySamples(list), par: emptySamples(list) };
  const direct = [];
  const { failed, nodes } = await bench.withWorkers("memory", list, async (attempt) => {
    for (const name of list) {
      await attempt(name, async (worker) => {
        await worker.call("open", { store: "memory" });
        for (const mode of ["seq", "par"]) await worker.call("ungated", { mode, n: CALLS, reps: 12 });
      });
    }
    await bench.rounds(bench.options.rounds, list, (name) =>
      attempt(name, async (worker) => {
        for (const [mode, reps] of Object.entries(REPEATS)) {
          samples[mode][name].push(perCall(await worker.call("ungated", { mode, n: CALLS, reps })));
        }
        if (name === list[0]) direct.push(perCall(await worker.call("direct", { n: DIRECT })));
      }),
    );
  });
  return { ...samples, direct, failed, nodes };
}

function perCall({ ms, calls }) {
  return (ms * 1_000) / calls;
}
