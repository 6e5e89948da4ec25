import { expect } from "vitest";
import type { Statistics } from "../../src/engine/index.ts";
import { createApp } from "../../src/http/index.ts";
import { type Engine, type JsonObject, OutcomeUnknown } from "../../src/index.ts";

/** What the journal's own records add up to. */
export interface Recounted {
  readonly total: Readonly<Record<Counted, number>>;
  readonly tools: Readonly<Record<string, Verdicts>>;
  readonly approvers: Readonly<Record<string, Verdicts>>;
}

interface Verdicts {
  approved: number;
  denied: number;
}

type Counted = "asked" | "approved" | "amended" | "denied" | "expired" | "cancelled" | "unknown";

const KINDS: { readonly [kind: string]: Counted } = {
  "confirmation-requested": "asked",
  "confirmation-approved": "approved",
  "confirmation-denied": "denied",
  "confirmation-expired": "expired",
  "confirmation-cancelled": "cancelled",
  "call-unknown": "unknown",
};
const boss = { id: "boss" };
const EACH = 2;

/** Has every ending happen twice, and leaves one question open. */
export async function makeHistory(engine: Engine): Promise<void> {
  const gated = { requireConfirmation: true, amendable: true } as const;
  const refund = engine.gate("refund", gated, async (_args: { amount: number }) => "sent");
  const hurried = engine.gate("hurry", { ...gated, expiresInMs: 1 }, async () => "done");
  const lost = engine.gate("lose", gated, async () => {
    throw new OutcomeUnknown("the line broke");
  });
  const ask = async (tool: typeof refund | typeof hurried | typeof lost, key: string): Promise<string> => {
    const outcome = await tool({ amount: 1 }, { key, by: { id: "ana" } });
    if (outcome.status !== "pending") throw new Error(`${key} is ${outcome.status}`);
    return outcome.confirmation.id;
  };
  for (let round = 0; round < EACH; round += 1) {
    await (await engine.approve(await ask(refund, `plain-${round}`), { by: boss })).finished;
    const amended = await engine.approve(await ask(refund, `less-${round}`), {
      by: { id: "zoe" },
      args: { amount: 0.5 },
    });
    await amended.finished;
    await engine.deny(await ask(refund, `no-${round}`), { by: boss });
    await engine.cancel(await ask(refund, `back-${round}`), { by: { id: "ana" }, reason: "not needed" });
    await (await engine.approve(await ask(lost, `lost-${round}`), { by: boss })).finished;
    const late = await ask(hurried, `late-${round}`);
    while ((await engine.confirmation(late)).status !== "expired") await engine.work({ once: true });
  }
  await ask(refund, "open");
}

/** Adds up what the journal says, without the code that counts it otherwise. */
export async function recount(engine: Engine): Promise<Recounted> {
  const total = { asked: 0, approved: 0, amended: 0, denied: 0, expired: 0, cancelled: 0, unknown: 0 };
  const tools: Record<string, Verdicts> = {};
  const approvers: Record<string, Verdicts> = {};
  const of = (rows: Record<string, Verdicts>, name: string): Verdicts => {
    rows[name] ??= { approved: 0, denied: 0 };
    return rows[name];
  };
  const { journal } = engine.ledger;
  for (let after = 0; ; ) {
    const records = await journal.records({ after, limit: 100 });
    for (const { kind, body } of records) {
      const what = KINDS[kind];
      if (what === undefined) continue;
      const said = body as JsonObject;
      total[what] += 1;
      if (said["amended"] !== undefined) total.amended += 1;
      const tool = of(tools, said["tool"] as string);
      if (what !== "approved" && what !== "denied") continue;
      tool[what] += 1;
      of(approvers, (said["by"] as { readonly id: string }).id)[what] += 1;
    }
    const last = records.at(-1);
    if (last === undefined) return { total, tools, approvers };
    after = last.seq;
  }
}

function verdictsIn({ approved, denied }: Readonly<Verdicts>): Verdicts {
  return { approved, denied };
}

/** The same, of what the statistics say. */
export function countedIn({ total, tools, approvers }: Statistics): Recounted {
  const { decisionSeconds: _times, ...counts } = total;
  return {
    total: counts as Recounted["total"],
    tools: Object.fromEntries(tools.map((row) => [row.tool, verdictsIn(row)])),
    approvers: Object.fromEntries(approvers.map((row) => [row.approver, verdictsIn(row)])),
  };
}

/** The numbers of `/v1/stats` are those of the journal. Resolves to how many questions were asked. */
export async function statisticsAgree(engine: Engine): Promise<number> {
  await makeHistory(engine);
  const app = createApp({
    apps: {},
    engine,
    authenticate: () => ({ id: "ops", kind: "oidc", scopes: ["admin"] }),
  });
  const answer = await app.fetch(new Request("http://localhost/v1/stats?days=2"));
  const found = (await answer.json()) as Statistics;
  const counted = await recount(engine);
  expect(counted.total).toEqual({
    asked: 6 * EACH + 1,
    approved: 3 * EACH,
    amended: EACH,
    denied: EACH,
    expired: EACH,
    cancelled: EACH,
    unknown: EACH,
  });
  expect(countedIn(found)).toEqual(counted);
  expect(found).toMatchObject({ behind: false, waiting: { count: 1 } });
  const byDay = found.days.reduce((sum, { asked = 0 }) => sum + asked, 0);
  expect(byDay).toBe(counted.total.asked);
  return byDay;
}
