import { join } from "node:path";
import { Engine, type PolicyCall, type PolicySource } from "../src/engine/index.ts";
import { parsePolicy } from "../src/policy/index.ts";
import { openLedger } from "./contenders/engine.ts";
import type { Options } from "./options.ts";
import type { Report } from "./report.ts";
import { AMOUNT, APP, TOOL, USER } from "./scenario.ts";
import { median, pairedRatio } from "./statistics.ts";

const RULES = 1_000;
const MOST_US = 100;
const MOST_SLOWER = 1.05;
/** Rules of a usual file; two of them are about the tool, and one applies. */
const USUAL_RULES = 20;
const CYCLES = 100;

/** What rules may say about the call, all of them about its tool. None but the last applies. */
const CONDITIONS: { readonly [what: string]: (place: number) => string } = {
  "a number": (place) => `args.amount > ${AMOUNT + 1 + place}.0`,
  "a text": (place) => `args.to == "nobody-${place}"`,
  "a number and a text": (place) => `args.amount > ${AMOUNT + 1 + place}.0 && user.id != "nobody-${place}"`,
  "a list": (place) => `args.to in ["nobody-${place}", "nothing-${place}"]`,
  roles: (place) => `user.roles.exists(role, role == "role-${place}")`,
  "the beginning of a text": (place) => `args.to.startsWith("nobody-${place}")`,
  "one text or another": (place) => `args.to == "nobody-${place}" || args.to == "nothing-${place}"`,
  "a number; all of them apply": (place) => `args.amount < ${AMOUNT + 1 + place}.0`,
};

const CALL: PolicyCall = {
  entryPoint: "gate",
  app: APP,
  agent: APP,
  tool: TOOL,
  args: { amount: AMOUNT, to: "zoe" },
  shown: { amount: AMOUNT, to: "zoe" },
  user: USER,
  requesters: [USER],
  roles: ["staff", "travel"],
  authenticated: true,
  session: "s",
  state: {},
  at: Date.UTC(2026, 0, 5, 12),
};

/** What rules cost: a thousand of them about one call, and a usual file in a whole cycle. In CPU time. */
export async function measurePolicy(options: Options, folder: string, report: Report): Promise<void> {
  report.progress("policy: judges");
  report.table(
    `Judging one call by ${RULES.toLocaleString("en")} rules that are all about its tool`,
    ["conditions compare", "CPU µs per call"],
    Object.entries(CONDITIONS).map(([what, condition]) => judgingRow({ what, condition }, options, report)),
  );
  report.table(
    "A gated function, asked about, approved and run, with a policy file and without",
    ["store", "CPU with / without", "CPU µs without"],
    [await cycleRow("memory", options, folder, report), await cycleRow("sqlite", options, folder, report)],
  );
}

function judgingRow(
  { what, condition }: { readonly what: string; readonly condition: (place: number) => string },
  { rounds, quick }: Options,
  report: Report,
): string[] {
  const rules = Array.from({ length: RULES }, (_, place) => rule(`r${place}`, TOOL, condition(place)));
  const policy = parsePolicy("bench", `rules:\n${rules.join("")}`);
  const count = quick ? 200 : 1_000;
  judgeOften(policy, count);
  const us = median(Array.from({ length: rounds }, () => judgeOften(policy, count)));
  // That a thousand rules all apply is no case of the goal: it is here to be seen.
  if (!what.includes("apply"))
    report.goal(
      `judging ${RULES} rules that compare ${what}: under ${MOST_US} µs`,
      `${us.toFixed(0)} µs`,
      us < MOST_US ? "met" : "missed",
    );
  return [what, us.toFixed(0)];
}

function judgeOften(policy: PolicySource, count: number): number {
  const before = process.cpuUsage();
  for (let i = 0; i < count; i += 1) policy.judge(CALL);
  return cpuSince(before) / count;
}

function cpuSince(before: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(before);
  return user + system;
}

function rule(id: string, tool: string, when: string): string {
  return `  - { id: ${id}, match: { tool: ${tool} }, when: '${when}', then: confirm }\n`;
}

async function cycleRow(
  store: "memory" | "sqlite",
  { rounds }: Options,
  folder: string,
  report: Report,
): Promise<string[]> {
  report.progress(`policy: cycles on ${store}`);
  const rules = Array.from({ length: USUAL_RULES }, (_, place) =>
    rule(`r${place}`, place < 2 ? TOOL : `tool_${place}`, `args.amount > ${place === 0 ? 1 : AMOUNT + 1}.0`),
  );
  const sides = [
    await openSide(store, join(folder, `policy-${store}-without.db`)),
    await openSide(
      store,
      join(folder, `policy-${store}-with.db`),
      parsePolicy("bench", `rules:\n${rules.join("")}`),
    ),
  ] as const;
  const samples: [number[], number[]] = [[], []];
  for (let round = -2; round < rounds * 2; round += 1)
    for (const place of round % 2 === 0 ? ([0, 1] as const) : ([1, 0] as const)) {
      const us = await sides[place].cycles();
      if (round >= 0) samples[place].push(us);
    }
  for (const side of sides) await side.close();
  const ratio = pairedRatio(samples[1], samples[0]);
  report.goal(
    `a cycle on ${store} with a policy file: at most ${MOST_SLOWER} times the CPU time of one without`,
    ratio.toFixed(3),
    ratio <= MOST_SLOWER ? "met" : "missed",
  );
  return [store, ratio.toFixed(3), Math.round(median(samples[0])).toLocaleString("en")];
}

async function openSide(store: "memory" | "sqlite", file: string, policy?: PolicySource) {
  const engine = new Engine({
    ledger: await openLedger(store, file),
    hostName: "bench",
    ...(policy === undefined ? {} : { policy }),
  });
  let runs = 0;
  const pay = engine.gate(TOOL, { requireConfirmation: true }, async () => {
    runs += 1;
    return "paid";
  });
  let key = 0;
  const cycle = async (): Promise<void> => {
    key += 1;
    const asked = await pay({ amount: AMOUNT, to: "zoe" }, { key: `k${key}`, by: { id: USER } });
    if (asked.status !== "pending" || runs !== key - 1) throw new Error(`The call is ${asked.status}.`);
    await engine.approve(asked.confirmation.id, { by: { id: USER } });
    await engine.finished(asked.callId);
    if (runs !== key) throw new Error("The call did not run once.");
  };
  return {
    async cycles(): Promise<number> {
      globalThis.gc?.();
      const before = process.cpuUsage();
      for (let i = 0; i < CYCLES; i += 1) await cycle();
      return cpuSince(before) / CYCLES;
    },
    close: () => engine.close(),
  };
}
