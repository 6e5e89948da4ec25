// One process per contender, driven over IPC (only one is active at a
// time). argv[2] = contender name.
import { appendFileSync, closeSync, fsyncSync, openSync, writeSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { FINAL } from "./script.mjs";

const name = process.argv[2];
const mod = await import(`../contenders/${name}.mjs`);
let inst,
  count = 0,
  pings = 0,
  toolMs = 0,
  log = null,
  startedAt = 0,
  seq = 0;

const env = {
  // THE tool. Its start is what `resume` times; with `log` every execution is a fsynced
  // line in a file that survives kill -9.
  reimburse: async ({ amount }) => {
    startedAt = performance.now();
    count++;
    if (log) {
      const fd = openSync(log, "a");
      writeSync(fd, `${process.pid} ${Date.now()} ${amount}\n`);
      fsyncSync(fd);
      closeSync(fd);
    }
    if (toolMs) await sleep(toolMs);
    return { ok: true, amount };
  },
  ping: async ({ i }) => {
    pings++;
    return { ok: true, i };
  },
};

// the end of a database error is what says why
const brief = (e) => {
  const m = String(e?.message ?? e).replace(/\s+/g, " ");
  return m.length < 170 ? m : `${m.slice(0, 80)} ... ${m.slice(-80)}`;
};
const sid = (p) => `${p}-${process.pid}-${++seq}`;
function check(cond, what) {
  if (!cond) throw new Error(`INCORRECT: ${what}`);
}

async function cycle() {
  const before = count;
  const h = await inst.start(sid("s"));
  check(count === before, "tool ran before approval");
  const r = await inst.approve(h);
  check(count === before + 1, `tool ran ${count - before} times after approval`);
  check(r.text === FINAL, `final text was ${JSON.stringify(r.text)}`);
}

function say(result) {
  return result.status === "fulfilled"
    ? `ok:${String(result.value.text).slice(0, 80)}`
    : `error:${brief(result.reason)}`;
}

async function memoryAtRest() {
  for (let i = 0; i < 4; i++) {
    globalThis.gc();
    await sleep(30);
  }
  return process.memoryUsage();
}

const commands = {
  async meta() {
    return mod.meta;
  },
  async open({ store, file, url, toolMs: t = 0, log: l = null }) {
    toolMs = t;
    log = l;
    inst = await mod.open({ ...env, store, file, url });
  },
  async close() {
    await inst?.close();
    inst = undefined;
    globalThis.gc?.();
  },
  /** n verified cycles, sequential or with `concurrency` sessions in flight. */
  async cycles({ n, concurrency = 1 }) {
    const cpu = process.cpuUsage();
    const t = performance.now();
    if (concurrency === 1) {
      for (let i = 0; i < n; i++) await cycle();
    } else {
      // in flight together: the global counter can only be checked at the end
      const before = count;
      let left = n;
      await Promise.all(
        Array.from({ length: concurrency }, async () => {
          while (left-- > 0) {
            const h = await inst.start(sid("s"));
            const r = await inst.approve(h);
            check(r.text === FINAL, `final text was ${JSON.stringify(r.text)}`);
          }
        }),
      );
      check(count - before === n, `${count - before} executions for ${n} cycles`);
    }
    const ms = performance.now() - t,
      c = process.cpuUsage(cpu);
    return { ms, n, cpuMs: (c.user + c.system) / 1000 };
  },
  async pragmas() {
    return await inst.pragmas?.();
  },
  async prefill({ n, session }) {
    const t = performance.now();
    await inst.prefill(session, n);
    return { ms: performance.now() - t };
  },
  /** decision submitted -> tool started, on a session with history. */
  async resume({ session }) {
    const before = count;
    const t0 = performance.now();
    const h = await inst.start(session);
    check(count === before, "tool ran before approval");
    const t = performance.now();
    startedAt = 0;
    const r = await inst.approve(h);
    const end = performance.now();
    check(count === before + 1, `tool ran ${count - before} times`);
    check(r.text === FINAL, `final text was ${JSON.stringify(r.text)}`);
    return { toTool: startedAt - t, toFinal: end - t, toPause: t - t0 };
  },
  async ungated({ mode, n, reps }) {
    const before = pings;
    const t = performance.now();
    for (let i = 0; i < reps; i++) {
      const r = await inst.ungated(sid("u"), mode, n);
      if (r.text !== FINAL) throw new Error(`INCORRECT: final text ${JSON.stringify(r.text)}`);
    }
    const ms = performance.now() - t;
    check(pings - before === n * reps, `${pings - before} pings for ${n * reps}`);
    return { ms, calls: n * reps };
  },
  async direct({ n }) {
    const t = performance.now();
    for (let i = 0; i < n; i++) await env.ping({ i });
    return { ms: performance.now() - t, calls: n };
  },
  async pending({ warm, n }) {
    for (let i = 0; i < warm; i++) await inst.start(sid("w"));
    const a = await memoryAtRest();
    const t = performance.now();
    for (let i = 0; i < n; i++) await inst.start(sid("p"));
    const ms = performance.now() - t;
    const b = await memoryAtRest();
    return {
      n,
      ms,
      rss0: a.rss,
      rss1: b.rss,
      heap0: a.heapUsed + a.external,
      heap1: b.heapUsed + b.external,
    };
  },
  async start() {
    return await inst.start(sid("s"));
  },
  async approve({ handle }) {
    const before = count;
    try {
      const r = await inst.approve(handle);
      return { ran: count - before, text: r.text ?? null };
    } catch (e) {
      return { ran: count - before, error: brief(e) };
    }
  },
  /** same approval twice in one process, second one `staggerMs` later */
  async twice({ staggerMs = 0, again = true }) {
    const h = await inst.start(sid("d"));
    const before = count;
    const one = inst.approve(h);
    one.catch(() => {});
    if (staggerMs) await sleep(staggerMs);
    const both = await Promise.allSettled([one, inst.approve(h)]);
    await sleep(toolMs + 50); // a detached execution would still be counted
    const concurrent = count - before;
    const out = { concurrent, answers: both.map(say) };
    if (again) {
      const [r] = await Promise.allSettled([inst.approve(h)]);
      await sleep(toolMs + 50);
      out.after = count - before - concurrent;
      out.afterAnswer = say(r);
    }
    return out;
  },
  /** approve, complete, then the same approval again */
  async replay() {
    const h = await inst.start(sid("r"));
    const before = count;
    const r1 = await inst.approve(h);
    check(r1.text === FINAL, "first approval did not finish");
    const first = count - before;
    const [r] = await Promise.allSettled([inst.approve(h)]);
    await sleep(toolMs + 50);
    return {
      first,
      again: count - before - first,
      answer: say(r),
    };
  },
  async inspect({ handle }) {
    return (await inst.inspect?.(handle)) ?? null;
  },
};

async function answer({ id, cmd, args }) {
  try {
    process.send({ id, result: (await commands[cmd](args ?? {})) ?? null });
  } catch (error) {
    process.send({ id, error: String(error?.stack ?? error).slice(0, 2000) });
  }
}

process.on("message", (message) => {
  answer(message).catch(() => process.exit(1));
});
process.on("disconnect", () => process.exit(0));
process.on("unhandledRejection", (e) => {
  if (process.env.BENCH_DEBUG) appendFileSync(2, `unhandled in ${name}: ${e?.stack ?? e}\n`);
});
process.send({ ready: true, node: process.version });
