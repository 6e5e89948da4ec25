import { type Call, toCall, untilEnded } from "./calls/index.ts";
import { type DecisionRefusal, type DecisionResult, toDecisionRefusal } from "./decision-result.ts";
import {
  type Acting,
  type Decided,
  type DecisionInput,
  type Decisions,
  type DecisionTarget,
  type OnceKey,
  refusalError,
  type SettlementInput,
  toDecider,
} from "./decisions/index.ts";
import {
  allDelegations,
  type Delegated,
  makeDelegation,
  type NewDelegation,
  revokeDelegation,
  toDelegated,
} from "./delegations/index.ts";
import { type Grant, listGrants, revokeGrant, toGrant } from "./grants/index.ts";
import type { Page, PageRequest } from "./ledger/index.ts";
import type { EngineParts } from "./parts.ts";
import { type Counting, type Principal, type PrincipalInput, toPrincipal } from "./people/index.ts";
import { type Confirmation, readConfirmation, readPending, toConfirmation } from "./questions/index.ts";

/** What people do through an engine: decide, settle, delegate, revoke, and read what waits for them. */
export class Approvals {
  readonly #parts: EngineParts;
  readonly #decisions: Decisions;

  constructor(parts: EngineParts, decisions: Decisions) {
    this.#parts = parts;
    this.#decisions = decisions;
  }

  async decide(input: DecisionInput, acting: Acting): Promise<DecisionResult<Confirmation>> {
    const decided = await this.#decisions.decide(input, acting);
    if (!decided.ok) throw refusalError(decided);
    return this.#result(decided, toPrincipal(acting.by));
  }

  async decideAll(
    inputs: readonly DecisionInput[],
    acting: Acting,
  ): Promise<readonly (DecisionResult<Confirmation> | DecisionRefusal)[]> {
    const outcomes = await this.#decisions.decideAll(inputs, acting);
    return outcomes.map((outcome) =>
      outcome.ok ? this.#result(outcome, toPrincipal(acting.by)) : toDecisionRefusal(outcome, acting),
    );
  }

  async cancel(id: string, acting: Acting & { readonly reason: string }): Promise<Confirmation> {
    const cancelled = await this.#decisions.cancel(id, acting);
    if (!cancelled.ok) throw refusalError(cancelled);
    return toConfirmation(cancelled, toPrincipal(acting.by));
  }

  async withdrawVote(id: string, acting: Acting): Promise<Confirmation> {
    const withdrawn = await this.#decisions.withdrawVote(id, acting);
    if (!withdrawn.ok) throw refusalError(withdrawn);
    return toConfirmation(withdrawn, toPrincipal(acting.by));
  }

  async settle(target: DecisionTarget, settlement: SettlementInput, acting: Acting): Promise<Call> {
    const settled = await this.#decisions.settle(target, settlement, acting);
    if (!settled.ok) throw refusalError(settled);
    return toCall(settled.call, settled.session);
  }

  async delegate(wanted: NewDelegation, acting: Acting, once?: OnceKey): Promise<Delegated> {
    const made = await makeDelegation(this.#parts, wanted, { ...toDecider(acting), once });
    if (!made.ok) throw refusalError(made);
    return toDelegated(made.delegation);
  }

  async revokeDelegation(id: string, acting: Acting): Promise<Delegated> {
    const revoked = await revokeDelegation(this.#parts, id, toDecider(acting));
    if (!revoked.ok) throw refusalError(revoked);
    return toDelegated(revoked.delegation);
  }

  async delegations(by: PrincipalInput | undefined): Promise<readonly Delegated[]> {
    const all = (await allDelegations(this.#parts.ledger)).map(toDelegated);
    const person = (id: string): string => this.#parts.directory.person(id);
    const isTheirs = (id: string): boolean => by === undefined || person(id) === person(by.id);
    return all.filter(({ from, to }) => isTheirs(from) || isTheirs(to));
  }

  async counting(): Promise<Counting> {
    const { directory, ledger } = this.#parts;
    return { directory, now: ledger.now, delegations: await allDelegations(ledger) };
  }

  async confirmation(id: string, by: PrincipalInput | undefined): Promise<Confirmation> {
    return readConfirmation(this.#parts.ledger, id, await this.#viewing(by));
  }

  async pending(
    wanted: { readonly app?: string; readonly user?: string },
    by: PrincipalInput | undefined,
  ): Promise<readonly Confirmation[]> {
    return readPending(this.#parts.ledger, { ...wanted, ...(await this.#viewing(by)) });
  }

  async grants(page: PageRequest, by: PrincipalInput): Promise<Page<Grant>> {
    await this.#parts.ready();
    return listGrants(this.#parts, toPrincipal(by), page);
  }

  async revokeGrant(id: string, acting: Acting & { readonly reason?: string }): Promise<Grant> {
    const { reason } = acting;
    const about = { ...toDecider(acting), ...(reason === undefined ? {} : { reason }) };
    const revoked = await revokeGrant(this.#parts, id, about);
    if (!revoked.ok) throw refusalError(revoked);
    return toGrant(revoked.grant, revoked.session, this.#parts.ledger.now);
  }

  async #viewing(
    by: PrincipalInput | undefined,
  ): Promise<{ readonly viewer?: Principal; readonly counting?: Counting }> {
    return by === undefined ? {} : { viewer: toPrincipal(by), counting: await this.counting() };
  }

  #result({ confirmation, call, session, repeated }: Decided, by: Principal): DecisionResult<Confirmation> {
    const shown = toConfirmation({ confirmation, call, session }, by);
    return new ResultOfDecision(shown, repeated, () => this.#ended(call.id, confirmation.id, by));
  }

  async #ended(callId: string, id: string, by: Principal): Promise<Confirmation> {
    await untilEnded(this.#parts, callId, {});
    return this.confirmation(id, by);
  }
}

// A class, because a getter in an object of its own would make one type for each object, which lives until the next full
// garbage collection, with all that the getter refers to.
class ResultOfDecision implements DecisionResult<Confirmation> {
  readonly ok = true;
  readonly confirmation: Confirmation;
  readonly repeated: boolean;
  readonly #ended: () => Promise<Confirmation>;

  constructor(confirmation: Confirmation, repeated: boolean, ended: () => Promise<Confirmation>) {
    this.confirmation = confirmation;
    this.repeated = repeated;
    this.#ended = ended;
  }

  /** Rarely read, and for a call that runs elsewhere it needs a watcher, so it is made when it is read. */
  get finished(): Promise<Confirmation> {
    const ended = this.#ended();
    // If nobody awaits it, a rejection by a closing engine must not end the process.
    ended.catch(() => {});
    return ended;
  }
}
