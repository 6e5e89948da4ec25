// How often the tool runs for one approval: sent twice, from two processes, after the end, and after kill -9 inside it.
import { existsSync, readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

const ANSWER_LENGTH = 300;
const TOOL_MS = 200;
const LONG_TOOL_MS = 1_000;
const ENDLESS_TOOL_MS = 60_000;
const LOOK_MS = 25;
const LOOKS = 400;

export async function safety(bench) {
  const found = {};
  for (const name of bench.names) {
    found[name] = {};
    for (const store of ["memory", "sqlite", "postgres"]) {
      if (!bench.forStore(store, "safety").includes(name)) continue;
      found[name][store] = await ofOne(bench, { name, store });
    }
    bench.log(`  safety: ${name}`);
  }
  return found;
}

async function ofOne(bench, who) {
  const answers = {};
  const one = await inOneProcess(bench, who, answers);
  if (who.store === "memory") return { ...one, answers };
  return {
    ...one,
    answers,
    twoProcesses: await fromTwo(bench, who, answers),
    twoProcessesStaggered: await fromTwoStaggered(bench, who, answers),
    crash: await afterKill(bench, who),
  };
}

async function inOneProcess(bench, { name, store }, answers) {
  const [simultaneous, staggered, replay] = [[], [], []];
  const worker = await bench.worker(name, store);
  // A fresh store each: a trial that fails does not spoil the next.
  const trial = async (cmd, args) => {
    await worker.call("open", { ...(await bench.place(store)), toolMs: TOOL_MS });
    try {
      return await worker.call(cmd, args, 30_000);
    } finally {
      await worker.call("close").catch(() => {});
    }
  };
  try {
    for (let i = 0; i < trials(bench); i += 1) {
      const both = await trial("twice", {});
      const late = await trial("twice", { staggerMs: 80 });
      const again = await trial("replay", {});
      simultaneous.push(both.concurrent);
      staggered.push(late.concurrent);
      replay.push(again.again);
      Object.assign(answers, { simultaneous: both.answers, staggered: late.answers, replay: again.answer });
    }
    return { simultaneous, staggered, replay };
  } catch (error) {
    return { simultaneous, staggered, replay, error: brief(error) };
  } finally {
    await worker.stop();
  }
}

async function fromTwo(bench, who, answers) {
  const runs = [];
  for (let i = 0; i < trials(bench); i += 1) {
    const log = bench.file(`both-${who.name}-${who.store}-${i}`);
    const found = await twoAtOnce(bench, who, { toolMs: TOOL_MS, log, between: async () => {} });
    runs.push(found.runs);
    answers.twoProcesses = found.answers;
  }
  return runs;
}

async function fromTwoStaggered(bench, who, answers) {
  const runs = [];
  for (let i = 0; i < trials(bench); i += 1) {
    const log = bench.file(`late-${who.name}-${who.store}-${i}`);
    const found = await twoAtOnce(bench, who, { toolMs: LONG_TOOL_MS, log, between: () => started(log) });
    runs.push(found.runs);
    answers.twoProcessesStaggered = found.answers;
  }
  return runs;
}

async function twoAtOnce(bench, { name, store }, { toolMs, log, between }) {
  const place = { ...(await bench.place(store)), toolMs, log };
  const workers = [await bench.worker(name, store), await bench.worker(name, store)];
  try {
    const [first, second] = workers;
    await first.call("open", place);
    const handle = await first.call("start");
    await second.call("open", place);
    const one = answerOf(first.call("approve", { handle }, 30_000));
    await between();
    const answers = await Promise.all([one, answerOf(second.call("approve", { handle }, 30_000))]);
    return { runs: linesOf(log), answers };
  } finally {
    await Promise.all(workers.map((worker) => worker.stop()));
  }
}

async function afterKill(bench, { name, store }) {
  const log = bench.file(`kill-${name}-${store}`);
  const place = { ...(await bench.place(store)), log };
  const first = await bench.worker(name, store);
  await first.call("open", { ...place, toolMs: ENDLESS_TOOL_MS });
  const handle = await first.call("start");
  first.call("approve", { handle }).catch(() => {});
  await started(log);
  await first.kill9();
  const second = await bench.worker(name, store);
  try {
    await second.call("open", { ...place, toolMs: 0 });
    const seenBefore = await answerOf(second.call("inspect", { handle }));
    const answer = await answerOf(second.call("approve", { handle }, 60_000));
    return { executions: linesOf(log), seenBefore, answer };
  } finally {
    await second.stop();
  }
}

async function answerOf(call) {
  try {
    const value = await call;
    if (typeof value === "string" || value === null) return value ?? "nothing";
    return value.error ? `error:${value.error}` : `ok:${value.text}`;
  } catch (error) {
    return `error:${brief(error)}`;
  }
}

async function started(log) {
  for (let look = 0; look < LOOKS && linesOf(log) === 0; look += 1) await sleep(LOOK_MS);
}

function linesOf(file) {
  if (!existsSync(file)) return 0;
  return readFileSync(file, "utf8").split("\n").filter(Boolean).length;
}

function trials(bench) {
  return bench.options.quick ? 1 : 3;
}

function brief(error) {
  return String(error.message).slice(0, ANSWER_LENGTH);
}
