import { join } from "node:path";
import { expect, test } from "vitest";
import { Engine, type GrantRecord, type Ledger } from "../../src/engine/index.ts";
import { createLedger } from "../../src/stores/index.ts";
import { effort } from "../support/effort.ts";
import { createDatabase } from "../support/postgres/database.ts";
import type { Child } from "../support/processes/child.ts";
import { useResources } from "../support/resources.ts";
import { onPostgres } from "./race.ts";
import { BOT, SPENDER, type SpenderLine, type SpenderOptions, spendingPolicy } from "./spender.program.ts";

const PROGRAM = new URL("./spender.program.ts", import.meta.url);
const PROCESSES = 3;
const PAYMENTS = 20;
/** Fewer on PostgreSQL, which takes four times as long. */
const ROUNDS = effort({ short: 1, long: onPostgres ? 4 : 10 });
const MOST_CENTS = 10_000;
const ana = { id: "ana", kind: "token", authenticated: true, scopes: ["decide"] } as const;
const resources = useResources();
type Scope = SpenderOptions["scope"];
const SCOPES: readonly Scope[] = ["session", "user"];

/** A ledger with one grant in it. */
async function granted(scope: Scope): Promise<string> {
  const url = onPostgres
    ? await createDatabase(resources)
    : `sqlite:${join(await resources.folder(), "ledger.db")}`;
  const { secret, ...call } = SPENDER;
  const engine = new Engine({ ledger: await createLedger(url), policy: spendingPolicy, secret });
  const { confirmation } = await engine.callers.propose({
    by: BOT,
    ...call,
    key: "first",
    thread: "t1",
    args: { amount: 1 },
  });
  await engine.approve(confirmation?.id ?? "", { by: ana, grant: { scope } });
  await engine.close();
  return url;
}

/** Payments of up to 9.99, most of them not a whole number. */
function payments(round: number, process: number): readonly number[] {
  return Array.from(
    { length: PAYMENTS },
    (_, index) => ((round * 131 + process * 577 + index * 389) % 999) + 1,
  );
}

/** What was used, according to the grant, and according to each call in the journal, at one moment. */
async function readGrant(url: string): Promise<{ grant: GrantRecord; used: readonly number[] }> {
  const ledger = await createLedger(url);
  try {
    for (;;) {
      const grant = await onlyGrant(ledger);
      const used = await usesOf(ledger, grant);
      // Others may have used it meanwhile.
      if ((await onlyGrant(ledger)).revision === grant.revision) return { grant, used };
    }
  } finally {
    await ledger.close();
  }
}

async function onlyGrant(ledger: Ledger): Promise<GrantRecord> {
  const [found] = (await ledger.grants()).items;
  if (found === undefined) throw new Error("the grant is gone");
  return found.grant;
}

async function usesOf(ledger: Ledger, { id }: GrantRecord): Promise<readonly number[]> {
  const records = await ledger.journal.records({ after: 0, limit: 10_000 });
  const uses = records.filter(({ kind }) => kind === "grant-used");
  const ids = uses.map(({ body }) => (body as { readonly call: string }).call);
  const calls = await ledger.calls(ids);
  expect(calls.map(({ grant }) => grant?.id)).toEqual(ids.map(() => id));
  return calls.map(({ args }) => Math.round(Number(args["amount"]) * 100));
}

function total(cents: readonly number[]): number {
  return cents.reduce((one, other) => one + other, 0);
}

/** Checks that the grant, the journal and the world say the same, and that it is not too much. */
async function checkSpent(url: string, lines: readonly SpenderLine[]): Promise<void> {
  const { grant, used } = await readGrant(url);
  const spent = lines.flatMap((line) => (line.type === "spent" ? [line] : []));
  expect(new Set(spent.map(({ key }) => key)).size, "each payment once").toBe(spent.length);
  expect(grant.uses).toBe(used.length);
  expect(Math.round(Number(grant.spent["amount"]) * 100)).toBe(total(used));
  expect(total(used)).toBeLessThanOrEqual(MOST_CENTS);
  expect(grant.uses).toBeLessThanOrEqual(grant.limits.count);
  // Of a process that was killed, some payments were allowed and not made.
  expect(spent.length).toBeLessThanOrEqual(used.length);
  expect(total(spent.map(({ cents }) => cents))).toBeLessThanOrEqual(MOST_CENTS);
}

function start(options: SpenderOptions, lines: SpenderLine[]): Child<SpenderLine> {
  const child = resources.child<SpenderLine>(PROGRAM, { args: [JSON.stringify(options)] });
  child.onLine((line) => lines.push(line));
  return child;
}

test.each(SCOPES)(
  "calls in parallel on three processes never spend more than was granted, and nearly all of it (%s)",
  async (scope) => {
    for (let round = 0; round < ROUNDS; round++) {
      const url = await granted(scope);
      const lines: SpenderLine[] = [];
      const children = Array.from({ length: PROCESSES }, (_, index) =>
        start({ url, name: `p${index}`, scope, cents: payments(round, index) }, lines),
      );
      const done = await Promise.all(children.map((child) => child.line("done")));
      await checkSpent(url, lines);
      expect(total(done.map(({ refused }) => refused)), "more was wanted than granted").toBeGreaterThan(0);
      const { grant, used } = await readGrant(url);
      const left = MOST_CENTS - total(used);
      expect(grant.uses === grant.limits.count || left < 999, `${left} cents are left`).toBe(true);
      expect(lines.filter(({ type }) => type === "spent")).toHaveLength(used.length);
    }
  },
);

test.each(SCOPES)(
  "a process that is killed at any moment leaves a grant that is not overspent, and no payment twice (%s)",
  async (scope) => {
    for (let round = 0; round < ROUNDS; round++) {
      const url = await granted(scope);
      const lines: SpenderLine[] = [];
      const options = (index: number): SpenderOptions => ({
        url,
        name: `p${index}`,
        scope,
        cents: payments(round, index),
      });
      const lives = Array.from({ length: PROCESSES }, async (_, index) => {
        const child = start(options(index), lines);
        // Right after a payment: others of this process are in the middle of their commits.
        const done = child.line("done").then(() => "done");
        for (let seen = 0; seen <= (round + index) % 3; seen++)
          if ((await Promise.race([child.line("spent"), done])) === "done") break;
        await child.kill();
        await checkSpent(url, lines);
        // The same payments again: what was allowed before is not allowed twice.
        return start(options(index), lines).line("done");
      });
      expect((await Promise.all(lives)).map(({ type }) => type)).toEqual(lives.map(() => "done"));
      await checkSpent(url, lines);
    }
  },
);

test("of uses in sessions of their own on three processes and a revocation, no use is after it, and no payment starts", async () => {
  for (let round = 0; round < ROUNDS; round++) {
    const url = await granted("user");
    const lines: SpenderLine[] = [];
    const children = Array.from({ length: PROCESSES }, (_, index) =>
      start({ url, name: `p${index}`, scope: "user", cents: payments(round, index) }, lines),
    );
    const done = children.map((child) => child.line("done"));
    // One that starts late may find nothing left to spend.
    await Promise.all(children.map((child, index) => Promise.race([child.line("spent"), done[index]])));
    const { secret } = SPENDER;
    const engine = new Engine({ ledger: await createLedger(url), policy: spendingPolicy, secret });
    const { grant } = await readGrant(url);
    const { uses } = await engine.revokeGrant(grant.id, { by: ana });
    await Promise.all(done);
    const records = await engine.ledger.journal.records({ after: 0, limit: 10_000 });
    const kinds = records.map(({ kind }) => kind);
    const after = kinds.slice(kinds.indexOf("grant-revoked"));
    expect(after).not.toContain("grant-used");
    expect(kinds.filter((kind) => kind === "grant-used")).toHaveLength(uses);
    // Nothing starts under it, but what it let through before is told of as paid.
    expect(after).not.toContain("call-started");
    await engine.close();
  }
});
