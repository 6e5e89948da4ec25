// The full cycle on PostgreSQL with many sessions in flight, which the harness does not have as a workload of its own: by
// its library and its contenders, the way its other cycles are measured. `in-flight.mjs <results.json>`, in the
// harness's folder and on its Node; adds what was found to that file.
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { loadavg } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const IN_FLIGHT = 64;
// The slow contenders would need minutes for what takes the fast ones a second.
const WARM_MS = 3_000;
const BATCH_MS = 500;

const load = (...path) => import(pathToFileURL(join(process.cwd(), ...path)).href);
const { startPostgres } = await load("lib", "pg.mjs");
const { spawnWorker } = await load("lib", "proc.mjs");

const [file] = process.argv.slice(2);
const results = JSON.parse(readFileSync(file, "utf8"));
const postgres = await startPostgres();
try {
  if (postgres === null) console.error("no PostgreSQL was found: nothing is measured with many in flight");
  else results.W3d = await measure(await contenders(), results.env.rounds);
} finally {
  await postgres?.stop();
}
writeFileSync(file, JSON.stringify(results, null, 1));

/** Those that took part in the other cycles there. */
async function contenders() {
  const names = readdirSync("contenders").map((name) => name.slice(0, -".mjs".length));
  const found = [];
  for (const name of names.toSorted()) {
    if (results.W3 !== undefined && !(name in results.W3.rates)) continue;
    const { meta } = await load("contenders", `${name}.mjs`);
    if (meta.stores.includes("postgres")) found.push(name);
  }
  return found;
}

async function measure(names, rounds) {
  const workers = {};
  const [rates, cpuMsPerCycle, batch, failed] = [{}, {}, {}, {}];
  const attempt = async (name, work) => {
    if (name in failed) return;
    try {
      await workers[name].call("open", { store: "postgres", url: await postgres.freshDb() });
      // Connections and what is set up on first use are not timed; some fail when a user's very first sessions are many.
      await workers[name].call("cycles", { n: 2 });
      await work(workers[name]);
      await workers[name].call("close");
    } catch (error) {
      failed[name] = String(error.message).slice(0, 700);
      console.error(`  ! ${name}: ${failed[name]}`);
    }
  };
  try {
    for (const name of names) {
      [rates[name], cpuMsPerCycle[name]] = [[], []];
      workers[name] = await spawnWorker(name);
      await attempt(name, async (worker) => {
        const began = performance.now();
        let last;
        do last = await worker.call("cycles", { n: 2 * IN_FLIGHT, concurrency: IN_FLIGHT });
        while (performance.now() - began < WARM_MS);
        batch[name] = Math.max(2 * IN_FLIGHT, Math.round((last.n / last.ms) * BATCH_MS));
      });
    }
    for (let round = 0; round < rounds; round += 1) {
      console.error(`  ${IN_FLIGHT} in flight: round ${round + 1} of ${rounds}`);
      for (let turn = 0; turn < names.length; turn += 1) {
        const name = names[(turn + round) % names.length];
        await attempt(name, async (worker) => {
          const { n, ms, cpuMs } = await worker.call("cycles", { n: batch[name], concurrency: IN_FLIGHT });
          rates[name].push((n / ms) * 1_000);
          cpuMsPerCycle[name].push(cpuMs / n);
        });
      }
    }
  } finally {
    await Promise.all(Object.values(workers).map((worker) => worker.stop()));
  }
  return { store: "postgres", concurrency: IN_FLIGHT, rates, cpuMsPerCycle, failed, batch, load: loadavg() };
}
