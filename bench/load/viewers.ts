import { setTimeout as sleep } from "node:timers/promises";
import { PostgresServer } from "../../test/support/postgres/server.ts";
import type { Options } from "../options.ts";
import { emptyLedger } from "../postgres.ts";
import type { Report } from "../report.ts";
import { quantile } from "../statistics.ts";
import { Client } from "./client.ts";
import { nowMs } from "./clock.ts";
import { News } from "./news.ts";
import { PERSON_HEADER } from "./person.ts";
import type { Asked } from "./server.ts";
import { ServerProcess } from "./server-process.ts";

const GOAL_MS = 1_000;
const SECONDS = 20;
const QUICK_SECONDS = 5;
/** For what was decided last to be told of. */
const SETTLING_MS = 3_000;

interface Replica {
  readonly process: ServerProcess;
  readonly url: string;
}

/** Many people watch their inboxes, and each sees every decision: how late it is told, and what a viewer costs. */
export async function measureViewers(options: Options, folder: string, report: Report): Promise<void> {
  const { viewers, rate, replicas, quick } = options;
  const seconds = quick ? QUICK_SECONDS : SECONDS;
  const server = await PostgresServer.start([], folder);
  const started: ServerProcess[] = [];
  const news: News[] = [];
  try {
    const ledger = await emptyLedger(server);
    const all: Replica[] = [];
    for (let n = 0; n < replicas; n += 1) {
      const process = new ServerProcess(ledger, "team");
      started.push(process);
      all.push({ process, url: (await process.ask({ kind: "open" })).url });
    }
    const asked = (await started[0]?.ask({ kind: "ask", count: rate * seconds })) ?? [];
    report.progress(`viewers: ${asked.length} questions wait; ${viewers} people open their inboxes`);
    for (let n = 0; n < viewers; n += 1) {
      const one = new News({ [PERSON_HEADER]: `viewer-${n}` });
      news.push(one);
      await one.open(all[n % replicas]?.url ?? "");
    }
    const before = await cpuOf(all);
    const began = nowMs();
    const sent = await decideAt(rate, asked, all);
    await sleep(SETTLING_MS);
    const watched = (nowMs() - began) / 1_000;
    const used = (await cpuOf(all)) - before;
    tell(report, { ...toldOf(sent, news), options, used, watched });
  } finally {
    for (const one of news) one.close();
    for (const process of started) await process.stop();
    await server.stop();
  }
}

/** Decides all, so many a second, on the replicas in turn; when each was sent. */
async function decideAt(
  rate: number,
  asked: readonly Asked[],
  replicas: readonly Replica[],
): Promise<ReadonlyMap<string, number>> {
  const clients = replicas.map(({ url }) => new Client(url, { [PERSON_HEADER]: "decider" }));
  const sent = new Map<string, number>();
  const began = nowMs();
  const decisions = asked.map(async ({ confirmation }, n) => {
    await sleep(Math.max(0, began + (1_000 * n) / rate - nowMs()));
    sent.set(confirmation, nowMs());
    await clients[n % clients.length]?.approve(confirmation);
  });
  await Promise.all(decisions);
  for (const client of clients) client.close();
  return sent;
}

interface Told {
  readonly late: readonly number[];
  readonly missed: number;
}

function toldOf(sent: ReadonlyMap<string, number>, news: readonly News[]): Told {
  const late: number[] = [];
  let missed = 0;
  for (const viewer of news) {
    const told = viewer.take(sent.keys());
    for (const [id, at] of sent) {
      const heard = told.get(id);
      if (heard === undefined) missed += 1;
      else late.push(heard - at);
    }
  }
  return { late, missed };
}

function tell(
  report: Report,
  {
    late,
    missed,
    options: { viewers, rate, replicas },
    used,
    watched,
  }: Told & { readonly options: Options; readonly used: number; readonly watched: number },
): void {
  const [half, most] = [quantile(late, 0.5), quantile(late, 0.99)];
  report.goal(
    `${viewers.toLocaleString("en")} viewers of ${rate} decisions a second: told within ${GOAL_MS} ms in 99 of 100`,
    `${most.toFixed(0)} ms, ${missed} not told within ${SETTLING_MS} ms`,
    most <= GOAL_MS && missed === 0 ? "met" : "missed",
  );
  report.table(
    "Viewers: every inbox is told of every decision",
    ["viewers", "replicas", "decisions/s", "messages/s", "p50 ms", "p99 ms", "CPU ms a second for a viewer"],
    [
      [
        viewers.toLocaleString("en"),
        String(replicas),
        String(rate),
        (late.length / watched).toFixed(0),
        half.toFixed(0),
        most.toFixed(0),
        ((1_000 * used) / watched / viewers).toFixed(2),
      ],
    ],
  );
}

async function cpuOf(replicas: readonly Replica[]): Promise<number> {
  let sum = 0;
  for (const { process } of replicas) sum += (await process.ask({ kind: "memory" })).cpu;
  return sum;
}
