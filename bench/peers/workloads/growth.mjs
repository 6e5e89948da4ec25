// How long it takes from a decision to the tool, by how many events the session has already.
const SIZES = [10, 1_000, 10_000];
const SAMPLES = { 10: 25, 1_000: 9, 10_000: 3 };
const WARM = 30;
/** From here on a session is used again: a few more events do not matter. */
const LONG = 1_000;

export async function growth(bench) {
  const found = {};
  for (const store of ["memory", "sqlite"]) found[store] = await inStore(bench, store);
  return found;
}

async function inStore(bench, store) {
  const sizes = bench.options.quick ? SIZES.slice(0, 2) : SIZES;
  const list = bench.forStore(store, "growth");
  const bySize = () =>
    Object.fromEntries(list.map((name) => [name, Object.fromEntries(sizes.map((size) => [size, []]))]));
  const samples = { toTool: bySize(), toFinal: bySize(), toPause: bySize() };
  const { failed, nodes } = await bench.withWorkers(store, list, async (attempt) => {
    for (const name of list) await attempt(name, (worker) => warm(bench, worker, store));
    for (const size of sizes) {
      const session = (round) => `h${size}-${size < LONG ? round : 0}`;
      for (const name of list) await attempt(name, (worker) => prefill(worker, size, session));
      await bench.rounds(SAMPLES[size], list, (name, round) =>
        attempt(name, async (worker) => {
          const taken = await worker.call("resume", { session: session(round) }, 120_000);
          for (const [kind, ms] of Object.entries(taken)) samples[kind][name][size].push(ms);
        }),
      );
      bench.log(`  growth: ${store}, ${size} events`);
    }
  });
  return { ...samples, failed, nodes };
}

async function warm(bench, worker, store) {
  await worker.call("open", await bench.place(store));
  for (let i = 0; i < WARM; i += 1) await worker.call("resume", { session: `warm${i}` });
}

async function prefill(worker, size, session) {
  const sessions = new Set(Array.from({ length: SAMPLES[size] }, (_, round) => session(round)));
  for (const each of sessions) await worker.call("prefill", { n: size, session: each }, 400_000);
}
