// What every workload needs: the contenders, where they store, their processes, and what becomes of one that fails.
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { startPostgres } from "./pg.mjs";
import { spawnWorker } from "./proc.mjs";

const CONTENDERS = fileURLToPath(new URL("../contenders", import.meta.url));
const ERROR_LENGTH = 700;

export class Bench {
  #folder = mkdtempSync(join(tmpdir(), "countersign-peers-"));
  #files = 0;
  #oldNode;
  postgres;
  names;
  metas;
  options;

  /** `options`: { only?, rounds, targetMs, warmMs, quick, oldNode }. */
  static async open(options) {
    const bench = new Bench();
    const all = readdirSync(CONTENDERS)
      .map((file) => file.replace(/\.mjs$/, ""))
      .toSorted();
    bench.options = options;
    bench.names = options.only ?? all;
    const missing = bench.names.filter((name) => !all.includes(name));
    if (missing.length > 0) throw new Error(`There is no contender named ${missing.join(", ")}.`);
    bench.#oldNode = options.oldNode;
    const metas = bench.names.map(async (name) => [name, (await import(`../contenders/${name}.mjs`)).meta]);
    bench.metas = Object.fromEntries(await Promise.all(metas));
    bench.postgres = await startPostgres();
    return bench;
  }

  log(line) {
    process.stderr.write(`${line}\n`);
  }

  forStore(store, workload) {
    return this.names.filter((name) => {
      const { stores, skip = [] } = this.metas[name];
      return stores.includes(store) && !skip.includes(workload);
    });
  }

  /** A new and empty place to store in. */
  async place(store) {
    if (store === "memory") return { store };
    if (store === "postgres") return { store, url: await this.postgres.freshDb() };
    this.#files += 1;
    return { store, file: this.file(`db${this.#files}.sqlite`) };
  }

  file(name) {
    return join(this.#folder, name);
  }

  /** A native module that was built for another Node runs there, and only there. */
  worker(name, store, options) {
    const isNative = this.metas[name].native?.includes(store) ?? false;
    return spawnWorker(name, { ...options, ...(isNative ? { execPath: this.#oldNode } : {}) });
  }

  /** One process for each of them; `failed` collects those that cannot go on, and why. */
  async withWorkers(store, list, body) {
    const workers = {};
    const failed = {};
    const attempt = async (name, work) => {
      if (name in failed) return;
      try {
        await work(workers[name]);
      } catch (error) {
        failed[name] = String(error.message).slice(0, ERROR_LENGTH);
        this.log(`  ! ${name}: ${failed[name]}`);
      }
    };
    try {
      for (const name of list) {
        await attempt(name, async () => {
          workers[name] = await this.worker(name, store);
        });
      }
      await body(attempt);
      const nodes = Object.fromEntries(Object.entries(workers).map(([name, { node }]) => [name, node]));
      return { failed, nodes };
    } finally {
      await Promise.all(Object.values(workers).map((worker) => worker.stop()));
    }
  }

  /** Interleaved: everybody once a round, in another order each time. */
  async rounds(count, list, work) {
    for (let round = 0; round < count; round += 1) {
      for (let turn = 0; turn < list.length; turn += 1) {
        await work(list[(turn + round) % list.length], round);
      }
    }
  }

  async close() {
    await this.postgres.stop();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

export function emptySamples(list) {
  return Object.fromEntries(list.map((name) => [name, []]));
}
