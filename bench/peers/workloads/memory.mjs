// What paused sessions take of a process's memory.
const WARM = 300;
const SESSIONS = 10_000;
const QUICK_SESSIONS = 2_000;

export async function memory(bench) {
  const n = bench.options.quick ? QUICK_SESSIONS : SESSIONS;
  const found = {};
  for (const name of bench.forStore("memory")) {
    const worker = await bench.worker(name, "memory", { gc: true });
    try {
      await worker.call("open", { store: "memory" });
      found[name] = await worker.call("pending", { warm: WARM, n }, 600_000);
    } catch (error) {
      found[name] = { error: String(error.message).slice(0, 300) };
    } finally {
      await worker.stop();
    }
  }
  return found;
}
