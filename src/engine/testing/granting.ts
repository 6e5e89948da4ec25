import type { JsonObject } from "../../protocol/index.ts";
import type { CallerOutcome } from "../callers/caller-outcome.ts";
import type { Proposal } from "../callers/proposal.ts";
import { ManualClock } from "../common/manual-clock.ts";
import { Engine } from "../engine.ts";
import type { EngineOptions } from "../engine-options.ts";
import type { PolicyCall, PolicySource, PolicyVerdict } from "../gate/policy.ts";
import type { GrantTerms } from "../grants/index.ts";
import type { Ledger } from "../ledger/ledger.ts";
import type { GrantLimits } from "../ledger/records/grant-record.ts";
import { type Principal, toPrincipal } from "../people/principal.ts";

/** Somebody who logged in and may decide. */
export function approver(id: string): Principal {
  return toPrincipal({ id, kind: "token", authenticated: true, scopes: ["decide"] });
}

export const BOT: Principal = toPrincipal({
  id: "bot",
  kind: "agent",
  authenticated: true,
  scopes: ["propose"],
  onBehalfOf: "rita",
});
export const FINANCE = ["ana", "bob"];
export const HOUR = 3_600_000;

/** A policy that asks finance about every payment, and that a test can change at any time. */
export class TestPolicy implements PolicySource {
  readonly version = "v1";
  readonly text = "test";
  grants: GrantLimits | undefined = { forMs: HOUR, count: 3, sum: { amount: 100 } };
  /** How far grants may go. */
  scope: Scope = "session";
  count = 1;
  members: readonly string[] = FINANCE;
  /** What other rules say. */
  more: (call: PolicyCall) => readonly PolicyVerdict[] = () => [];

  readonly judge = (call: PolicyCall): readonly PolicyVerdict[] => [
    {
      outcome: "confirm",
      reason: "payments",
      rule: "pay",
      requirements: [{ from: { users: FINANCE }, count: this.count, group: "finance" }],
      notRequester: true,
      ...(this.grants === undefined ? {} : { grants: { ...this.grants, ...scoped(this.scope) } }),
    },
    ...this.more(call),
  ];

  group(name: string): { readonly users: readonly string[] } | undefined {
    return name === "finance" ? { users: this.members } : undefined;
  }

  person(id: string): string {
    return id;
  }
}

export const SCOPES = ["session", "user"] as const;
export type Scope = (typeof SCOPES)[number];

function scoped(scope: Scope): Pick<GrantLimits, "scope"> {
  return scope === "user" ? { scope } : {};
}

/**
 * Payments of an agent on an engine with such a policy: all in one thread, or each in one of its own where grants are for
 * all of them.
 */
export class Payments {
  readonly clock: ManualClock;
  readonly ledger: Ledger;
  readonly engine: Engine;
  readonly policy: TestPolicy;
  #keys = 0;

  constructor(
    ledger: Ledger,
    {
      clock = new ManualClock(),
      policy = new TestPolicy(),
      scope = policy.scope,
      ...options
    }: Omit<EngineOptions, "ledger" | "policy" | "clock"> & {
      readonly clock?: ManualClock;
      readonly policy?: TestPolicy;
      readonly scope?: Scope;
    } = {},
  ) {
    this.clock = clock;
    this.ledger = ledger;
    this.policy = policy;
    policy.scope = scope;
    this.engine = new Engine({ ...options, ledger, clock, policy });
  }

  /** Asks for a payment. */
  async pay(args: JsonObject = { amount: 10 }, more: Partial<Proposal> = {}): Promise<CallerOutcome> {
    this.#keys += 1;
    const key = `pay-${this.#keys}`;
    return this.engine.callers.propose({
      by: BOT,
      app: "shop",
      agent: "buyer",
      tool: "pay",
      thread: this.policy.scope === "user" ? `t${this.#keys}` : "t1",
      requireConfirmation: false,
      key,
      args,
      ...more,
    });
  }

  /** A payment that somebody approves, with a grant. */
  async grant(terms: GrantTerms = {}, by = "ana", more: Partial<Proposal> = {}): Promise<string> {
    const { confirmation } = await this.pay({ amount: 1 }, more);
    const grant = { ...scoped(this.policy.scope), ...terms };
    await this.engine.approve(confirmation?.id ?? "", { by: approver(by), grant });
    const minted = (await this.records("grant-minted")).at(-1);
    return minted?.["grant"] as string;
  }

  /** What the journal says under this kind. */
  async records(kind: string): Promise<readonly JsonObject[]> {
    const all = await this.ledger.journal.records({ after: 0, limit: 1_000 });
    return all.filter((record) => record.kind === kind).map(({ body }) => body as JsonObject);
  }

  /** Why the last call that no grant covered was asked about. */
  async refusal(): Promise<string> {
    const { refused } = ((await this.records("grant-refused")).at(-1) ?? {}) as {
      refused?: readonly { readonly reason: string }[];
    };
    return refused?.[0]?.reason ?? "";
  }
}
