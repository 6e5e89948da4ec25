import { isDeepStrictEqual } from "node:util";
import fc from "fast-check";
import type { CallerOutcome, Ledger, ManualClock } from "../../src/engine/index.ts";
import { approver, BOT, Payments, TestPolicy } from "../../src/engine/testing/granting.ts";

const MOST_CENTS = 3_000;
const LONGEST_MS = 10_000;
const AGENTS = ["buyer", "seller"] as const;
/** Amounts that no grant covers. */
const ODD = [-1, 1e308, "5", null] as const;

const SETTLED = ["succeeded", "failed", "undone"] as const;
const LEASE_MS = 100;

type Agent = (typeof AGENTS)[number];
type Step =
  | { readonly do: "pay"; readonly agent: Agent; readonly cents: number }
  | { readonly do: "pay-odd"; readonly agent: Agent; readonly amount: (typeof ODD)[number] }
  | {
      readonly do: "grant";
      readonly agent: Agent;
      readonly count: number;
      readonly cents: number;
      readonly forMs: number;
    }
  | { readonly do: "deny"; readonly agent: Agent }
  | { readonly do: "revoke"; readonly which: number }
  /** The process of a call that a grant let run dies in the middle of it. */
  | { readonly do: "lose"; readonly which: number }
  | { readonly do: "settle"; readonly which: number; readonly as: (typeof SETTLED)[number] }
  | { readonly do: "advance"; readonly ms: number }
  | { readonly do: "restart" }
  | { readonly do: "restore" };

const agent = fc.constantFrom(...AGENTS);
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ do: fc.constant("pay"), agent, cents: fc.nat(1_500) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("pay-odd"), agent, amount: fc.constantFrom(...ODD) }) },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant("grant"),
      agent,
      count: fc.integer({ min: 1, max: 3 }),
      cents: fc.integer({ min: 1, max: MOST_CENTS }),
      forMs: fc.integer({ min: 1, max: LONGEST_MS }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("deny"), agent }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("revoke"), which: fc.nat(5) }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant("lose"), which: fc.nat(3) }) },
  {
    weight: 3,
    arbitrary: fc.record({ do: fc.constant("settle"), which: fc.nat(2), as: fc.constantFrom(...SETTLED) }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("advance"), ms: fc.nat(4_000) }) },
  { weight: 1, arbitrary: fc.constant<Step>({ do: "restart" }) },
  { weight: 1, arbitrary: fc.constant<Step>({ do: "restore" }) },
);

/** What a grant should be: integers, and no store. */
interface ModelGrant {
  readonly id: string;
  readonly agent: Agent;
  readonly count: number;
  readonly cents: number;
  readonly endsAt: number;
  uses: number;
  spent: number;
  revoked: boolean;
}

/** A call that a grant let run. */
interface ModelCall {
  readonly id: string;
  readonly key: string;
  readonly cents: number;
  readonly grant: ModelGrant;
  state: "ready" | "unknown" | "ended";
}

function same(what: string, found: unknown, expected: unknown): void {
  if (isDeepStrictEqual(found, expected)) return;
  throw new Error(`${what}: expected ${JSON.stringify(expected)}, found ${JSON.stringify(found)}`);
}

/** A ledger of its own for one run. */
export interface Subject {
  /** Gives the same ledger again. */
  readonly open: () => Promise<Ledger>;
  readonly clock: ManualClock;
  /** Moves this clock and the ledger's, where that is another one. */
  readonly advance?: (ms: number) => Promise<void>;
}

/** The engine, and what it should be, step by step. */
class World {
  readonly #open: () => Promise<Ledger>;
  readonly #clock: ManualClock;
  readonly #advance: (ms: number) => Promise<void>;
  readonly #policy = new TestPolicy();
  readonly #grants: ModelGrant[] = [];
  readonly #allowed: ModelCall[] = [];
  #shop: Payments;
  #keys = 0;

  constructor({ open, clock, advance = (ms) => clock.advance(ms) }: Subject, ledger: Ledger) {
    this.#open = open;
    this.#clock = clock;
    this.#advance = advance;
    this.#policy.grants = { forMs: LONGEST_MS, count: 3, sum: { amount: MOST_CENTS / 100 } };
    this.#shop = this.#payments(ledger);
  }

  #payments(ledger: Ledger): Payments {
    return new Payments(ledger, { clock: this.#clock, policy: this.#policy, secret: "a secret" });
  }

  async take(one: Step): Promise<void> {
    switch (one.do) {
      case "pay":
        return this.#pay(one.agent, one.cents);
      case "pay-odd":
        await this.#ask(one.agent, one.amount, undefined);
        return;
      case "grant":
        return this.#grant(one);
      case "deny":
        return this.#deny(one.agent);
      case "revoke": {
        const grant = this.#grants[one.which];
        // One that is over leaves the session when the next one is minted.
        if (grant === undefined || grant.revoked || grant.endsAt <= this.#clock.now()) return;
        await this.#shop.engine.revokeGrant(grant.id, { by: approver("ana") });
        grant.revoked = true;
        return;
      }
      case "lose":
        return this.#lose(one.which);
      case "settle":
        return this.#settle(one);
      case "advance":
        return this.#advance(one.ms);
      case "restart":
        await this.#shop.engine.close();
        this.#shop = this.#payments(await this.#open());
        return;
      case "restore":
        await this.#shop.engine.markRestored({ by: { id: "ops" } });
        for (const grant of this.#grants) grant.revoked = true;
        for (const call of this.#allowed) if (call.state === "ready") call.state = "unknown";
    }
  }

  /** No grant of the tool outlives the denial of a call, whichever agent asked for it. */
  async #deny(payer: Agent): Promise<void> {
    const { confirmation } = await this.#propose(payer, "odd");
    await this.#shop.engine.deny(confirmation?.id ?? "", { by: approver("ana") });
    for (const grant of this.#grants) grant.revoked = true;
  }

  #covering(payer: Agent, cents: number): ModelGrant | undefined {
    const now = this.#clock.now();
    // A person has still to settle the same call.
    if (this.#allowed.some((call) => call.cents === cents && call.state === "unknown")) return undefined;
    return this.#grants.find(
      (grant) =>
        grant.agent === payer &&
        !grant.revoked &&
        grant.endsAt > now &&
        grant.uses < grant.count &&
        grant.spent + cents <= grant.cents,
    );
  }

  async #pay(payer: Agent, cents: number): Promise<void> {
    const grant = this.#covering(payer, cents);
    const { id, key } = await this.#ask(payer, cents / 100, grant?.id);
    if (grant === undefined) return;
    this.#allowed.push({ id, key, cents, grant, state: "ready" });
    grant.uses += 1;
    grant.spent += cents;
  }

  /** The call runs under exactly this grant; without one, a person is asked. */
  async #ask(
    payer: Agent,
    amount: number | string | null,
    expected: string | undefined,
  ): Promise<CallerOutcome> {
    const call = await this.#propose(payer, amount);
    const [stored] = await this.#shop.ledger.calls([call.id]);
    same("the grant of the call", stored?.grant?.id, expected);
    same("the call's status", call.status, expected === undefined ? "pending" : "allowed");
    if (call.confirmation !== undefined)
      await this.#shop.engine.cancel(call.confirmation.id, { by: approver("ana"), reason: "not needed" });
    return call;
  }

  async #lose(which: number): Promise<void> {
    const call = this.#allowed.filter(({ state, grant }) => state === "ready" && this.#isLive(grant))[which];
    if (call === undefined) return;
    const { claim } = await this.#shop.engine.callers.claim(
      { by: BOT.id, key: call.key },
      { leaseMs: LEASE_MS },
    );
    same("it starts", claim !== undefined, true);
    await this.#advance(2 * LEASE_MS);
    await this.#shop.engine.work({ once: true });
    call.state = "unknown";
  }

  /** Only what did not happen, under a grant that still stands, is given back. */
  async #settle({ which, as }: Extract<Step, { do: "settle" }>): Promise<void> {
    const call = this.#allowed.filter(({ state }) => state === "unknown")[which];
    if (call === undefined) return;
    const failed = { as: "failed", error: "lost" } as const;
    const settlement = {
      succeeded: { as: "succeeded", result: null },
      failed,
      undone: { ...failed, happened: false },
    } as const;
    await this.#shop.engine.settleCall(call.id, settlement[as], { by: approver("ana") });
    call.state = "ended";
    if (as !== "undone" || !this.#isLive(call.grant)) return;
    call.grant.uses -= 1;
    call.grant.spent -= call.cents;
  }

  #isLive({ revoked, endsAt }: ModelGrant): boolean {
    return !revoked && endsAt > this.#clock.now();
  }

  #propose(payer: Agent, amount: number | string | null) {
    this.#keys += 1;
    return this.#shop.pay({ amount }, { agent: payer, key: `k${this.#keys}` });
  }

  async #grant({ agent: payer, count, cents, forMs }: Extract<Step, { do: "grant" }>): Promise<void> {
    // One that no grant covers.
    const { confirmation } = await this.#propose(payer, "odd");
    const terms = { count, forMs, sum: { amount: cents / 100 } };
    await this.#shop.engine.approve(confirmation?.id ?? "", { by: approver("ana"), grant: terms });
    const minted = (await this.#shop.records("grant-minted")).at(-1);
    const endsAt = this.#clock.now() + forMs;
    this.#grants.push({
      id: minted?.["grant"] as string,
      agent: payer,
      count,
      cents,
      endsAt,
      uses: 0,
      spent: 0,
      revoked: false,
    });
  }

  /** What is listed is what the model has. */
  async check(): Promise<void> {
    const { items } = await this.#shop.engine.grants({ by: approver("ana"), limit: 100 });
    const now = this.#clock.now();
    const live = this.#grants.filter(({ revoked, endsAt }) => !revoked && endsAt > now);
    const told = items.map(({ id, uses, spent }) => {
      const cents = Math.round(Number(spent["amount"] ?? 0) * 100);
      return `${id} ${uses} ${cents}`;
    });
    const expected = live.map(({ id, uses, spent }) => `${id} ${uses} ${spent}`);
    same("what is listed", told.toSorted(), expected.toSorted());
  }

  close(): Promise<void> {
    return this.#shop.engine.close();
  }
}

/** Compares an engine on such a ledger with the model, over random steps. */
export async function compareWithModel(
  prepare: () => Promise<Subject>,
  { runs }: { readonly runs: number },
): Promise<void> {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 25 }), async (steps) => {
      const subject = await prepare();
      const world = new World(subject, await subject.open());
      try {
        for (const one of steps) {
          await world.take(one);
          await world.check();
        }
      } finally {
        await world.close();
      }
    }),
    { numRuns: runs },
  );
}
