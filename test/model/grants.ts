import { isDeepStrictEqual } from "node:util";
import fc from "fast-check";
import type { CallerOutcome, Ledger, ManualClock } from "../../src/engine/index.ts";
import {
  approver,
  BOT,
  Payments,
  SCOPES,
  type Scope,
  TestPolicy,
} from "../../src/engine/testing/granting.ts";

const MOST_CENTS = 3_000;
const LONGEST_MS = 10_000;
const AGENTS = ["buyer", "seller"] as const;
const THREADS = ["t1", "t2"] as const;
/** Amounts that no grant covers. */
const ODD = [-1, 1e308, "5", null] as const;

const SETTLED = ["succeeded", "failed", "undone"] as const;
const LEASE_MS = 100;

type Agent = (typeof AGENTS)[number];
/** Who pays, and in which session. */
interface Payer {
  readonly agent: Agent;
  readonly thread: (typeof THREADS)[number];
}
type Step =
  | { readonly do: "pay"; readonly payer: Payer; readonly cents: number }
  | { readonly do: "pay-odd"; readonly payer: Payer; readonly amount: (typeof ODD)[number] }
  | {
      readonly do: "grant";
      readonly payer: Payer;
      readonly scope: Scope;
      readonly count: number;
      readonly cents: number;
      readonly forMs: number;
    }
  | { readonly do: "deny"; readonly payer: Payer }
  | { readonly do: "revoke"; readonly which: number }
  /** The process of a call that a grant let run dies in the middle of it. */
  | { readonly do: "lose"; readonly which: number }
  | { readonly do: "settle"; readonly which: number; readonly as: (typeof SETTLED)[number] }
  | { readonly do: "advance"; readonly ms: number }
  | { readonly do: "restart" }
  | { readonly do: "restore" };

const payer = fc.record({ agent: fc.constantFrom(...AGENTS), thread: fc.constantFrom(...THREADS) });
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ do: fc.constant("pay"), payer, cents: fc.nat(1_500) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("pay-odd"), payer, amount: fc.constantFrom(...ODD) }) },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant("grant"),
      payer,
      scope: fc.constantFrom(...SCOPES),
      count: fc.integer({ min: 1, max: 3 }),
      cents: fc.integer({ min: 1, max: MOST_CENTS }),
      forMs: fc.integer({ min: 1, max: LONGEST_MS }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("deny"), payer }) },
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
  readonly payer: Payer;
  readonly scope: Scope;
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
  readonly payer: Payer;
  readonly cents: number;
  readonly grant: ModelGrant;
  state: "ready" | "unknown" | "ended";
}

function same(what: string, found: unknown, expected: unknown): void {
  if (isDeepStrictEqual(found, expected)) return;
  throw new Error(`${what}: expected ${JSON.stringify(expected)}, found ${JSON.stringify(found)}`);
}

/** May the grant be used in this session? */
function reaches({ scope, payer: given }: ModelGrant, { thread }: Pick<Payer, "thread">): boolean {
  return scope === "user" || given.thread === thread;
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
    this.#policy.scope = "user";
    this.#policy.grants = { forMs: LONGEST_MS, count: 3, sum: { amount: MOST_CENTS / 100 } };
    this.#shop = this.#payments(ledger);
  }

  #payments(ledger: Ledger): Payments {
    return new Payments(ledger, { clock: this.#clock, policy: this.#policy, secret: "a secret" });
  }

  async take(one: Step): Promise<void> {
    switch (one.do) {
      case "pay":
        return this.#pay(one.payer, one.cents);
      case "pay-odd":
        await this.#ask(one.payer, one.amount, undefined);
        return;
      case "grant":
        return this.#grant(one);
      case "deny":
        return this.#deny(one.payer);
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

  /** No grant of the tool that may be used in the session outlives the denial of a call, whichever agent asked for it. */
  async #deny(asker: Payer): Promise<void> {
    const { confirmation } = await this.#propose(asker, "odd");
    await this.#shop.engine.deny(confirmation?.id ?? "", { by: approver("ana") });
    for (const grant of this.#grants) if (reaches(grant, asker)) grant.revoked = true;
  }

  #covering({ agent, thread }: Payer, cents: number): ModelGrant | undefined {
    const now = this.#clock.now();
    // A person has still to settle the same call.
    const waiting = this.#allowed.filter((call) => call.cents === cents && call.state === "unknown");
    if (waiting.some((call) => call.payer.thread === thread)) return undefined;
    // Those of the session come first.
    const scopes = waiting.length === 0 ? SCOPES : (["session"] as const);
    const reaching = scopes.flatMap((scope) =>
      this.#grants.filter((grant) => grant.scope === scope && reaches(grant, { thread })),
    );
    return reaching.find(
      (grant) =>
        grant.payer.agent === agent &&
        !grant.revoked &&
        grant.endsAt > now &&
        grant.uses < grant.count &&
        grant.spent + cents <= grant.cents,
    );
  }

  async #pay(asker: Payer, cents: number): Promise<void> {
    const grant = this.#covering(asker, cents);
    const { id, key } = await this.#ask(asker, cents / 100, grant?.id);
    if (grant === undefined) return;
    this.#allowed.push({ id, key, payer: asker, cents, grant, state: "ready" });
    grant.uses += 1;
    grant.spent += cents;
  }

  /** The call runs under exactly this grant; without one, a person is asked. */
  async #ask(
    asker: Payer,
    amount: number | string | null,
    expected: string | undefined,
  ): Promise<CallerOutcome> {
    const call = await this.#propose(asker, amount);
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

  #propose(asker: Payer, amount: number | string | null) {
    this.#keys += 1;
    return this.#shop.pay({ amount }, { ...asker, key: `k${this.#keys}` });
  }

  async #grant({ payer: asker, scope, count, cents, forMs }: Extract<Step, { do: "grant" }>): Promise<void> {
    // One that no grant covers.
    const { confirmation } = await this.#propose(asker, "odd");
    const terms = { scope, count, forMs, sum: { amount: cents / 100 } };
    await this.#shop.engine.approve(confirmation?.id ?? "", { by: approver("ana"), grant: terms });
    const minted = (await this.#shop.records("grant-minted")).at(-1);
    const endsAt = this.#clock.now() + forMs;
    this.#grants.push({
      id: minted?.["grant"] as string,
      payer: asker,
      scope,
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
