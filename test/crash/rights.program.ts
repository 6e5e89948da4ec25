import { Engine, type Policy, type Principal, toPrincipal } from "../../src/engine/index.ts";
import { createLedger, type Ledger } from "../../src/index.ts";
import { watchCommits } from "../support/ledger/ledger-proxy.ts";
import { programOptions, say } from "../support/processes/program.ts";
import { describeError, SECRET } from "./life.ts";

/** Where the process is to be killed: around the commit with the n-th record of this kind. */
export interface RightsStrike {
  readonly kind: string;
  readonly place: "before" | "after";
  readonly n: number;
}

export interface RightsOptions {
  readonly url: string;
  readonly scope: "session" | "user";
  readonly strike?: RightsStrike;
}

export type RightsLine =
  /** Said by the payment's own program, after the claim and before the result is stored. */
  | { readonly type: "paid"; readonly key: string }
  | { readonly type: "done" }
  | { readonly type: "error"; readonly message: string };

/** How many further payments the grant is for; one more is wanted. */
export const GRANTED = 3;
const LEASE_MS = 60_000;
const DAY_MS = 86_400_000;
const BOT = toPrincipal({ id: "bot", kind: "token", authenticated: true, scopes: ["propose"] });
const CALL = { by: BOT, app: "shop", tool: "pay", args: { amount: 1 } } as const;

const askTwo: Policy = () => ({
  outcome: "confirm",
  reason: "payments",
  requirements: [{ from: { users: ["ana", "bob"] }, count: 2 }],
  grants: { scope: "user", forMs: DAY_MS, count: GRANTED, sum: { amount: 100 } },
});

function person(id: string): Principal {
  return toPrincipal({ id, kind: "token", authenticated: true, scopes: ["decide"] });
}

/**
 * Ana delegates to Zoe; Zoe, for Ana, and Bob approve a payment; Ana and Bob approve another one, and grant more; the bot
 * pays; then everything is revoked. Each step once.
 */
class Rights {
  readonly #ledger: Ledger;
  readonly #engine: Engine;
  readonly #scope: RightsOptions["scope"];

  constructor(ledger: Ledger, scope: RightsOptions["scope"]) {
    this.#ledger = ledger;
    this.#scope = scope;
    this.#engine = new Engine({ ledger, policy: askTwo, secret: SECRET });
  }

  async play(): Promise<void> {
    await this.#delegate();
    await this.#voteByDelegation(await this.#ask("delegated"));
    await this.#pay("delegated");
    await this.#grant(await this.#ask("first"));
    await this.#pay("first");
    for (let place = 1; place <= GRANTED + 1; place += 1) await this.#pay(`further-${place}`);
    await this.#revoke();
    await this.#engine.close();
  }

  async #delegate(): Promise<void> {
    if (await this.#did("delegation-made")) return;
    const until = Date.now() + DAY_MS;
    await this.#engine.delegate({ to: "zoe", until }, { by: person("ana") });
  }

  /** Zoe votes for Ana, takes it back and votes again; Bob's vote is the last. */
  async #voteByDelegation(id: string): Promise<void> {
    if (!(await this.#isOpen(id))) return;
    if (!(await this.#did("vote-withdrawn"))) {
      await this.#engine.approve(id, { by: person("zoe") });
      await this.#engine.withdrawVote(id, { by: person("zoe") });
    }
    for (const by of ["zoe", "bob"]) await this.#engine.approve(id, { by: person(by) });
  }

  async #grant(id: string): Promise<void> {
    if (!(await this.#isOpen(id))) return;
    const grant = { scope: this.#scope, count: GRANTED };
    for (const by of ["ana", "bob"]) await this.#engine.approve(id, { by: person(by), grant });
  }

  async #isOpen(id: string): Promise<boolean> {
    return (await this.#engine.confirmation(id)).status === "requested";
  }

  async #ask(key: string): Promise<string> {
    const { confirmation } = await this.#engine.callers.propose({ ...CALL, key, thread: this.#thread(key) });
    return confirmation?.id ?? "";
  }

  async #pay(key: string): Promise<void> {
    const call = { ...CALL, key, thread: this.#thread(key), requireConfirmation: false };
    const { status } = await this.#engine.callers.propose(call);
    if (status !== "allowed") return;
    const { claim } = await this.#engine.callers.claim({ by: BOT.id, key }, { leaseMs: LEASE_MS });
    if (claim === undefined) return;
    say({ type: "paid", key } as RightsLine);
    await this.#engine.callers.end({ by: BOT.id, key }, claim, { kind: "succeeded", result: null });
  }

  /** Each payment in a session of its own, where the grant is for all of them. */
  #thread(key: string): string {
    return this.#scope === "user" ? key : "t1";
  }

  async #revoke(): Promise<void> {
    const [grant] = (await this.#ledger.grants()).items;
    if (grant !== undefined) await this.#engine.revokeGrant(grant.grant.id, { by: person("bob") });
    for (const { id } of await this.#engine.delegations())
      await this.#engine.revokeDelegation(id, { by: person("ana") });
  }

  async #did(kind: string): Promise<boolean> {
    const records = await this.#ledger.journal.records({ after: 0, limit: 1_000 });
    return records.some((record) => record.kind === kind);
  }
}

/** A ledger at one of whose commits this process is killed. */
function deadly(inner: Ledger, strike: RightsStrike | undefined): Ledger {
  if (strike === undefined) return inner;
  let left = strike.n;
  const reach = (kinds: readonly string[], place: RightsStrike["place"]): void => {
    if (place !== strike.place || !kinds.includes(strike.kind)) return;
    left -= 1;
    if (left === 0) process.kill(process.pid, "SIGKILL");
  };
  return watchCommits(inner, {
    before: ({ log }) => reach(log.kinds, "before"),
    after: ({ log }) => reach(log.kinds, "after"),
  });
}

// The test imports what it shares with the program; only the program has options.
if (process.argv[2]?.startsWith("{") === true) {
  const { url, scope, strike } = programOptions() as RightsOptions;
  try {
    await new Rights(deadly(await createLedger(url), strike), scope).play();
    say({ type: "done" } satisfies RightsLine);
  } catch (error) {
    say({ type: "error", message: describeError(error) } as RightsLine);
  }
}
