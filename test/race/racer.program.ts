import {
  type Decided,
  Engine,
  type GatedFunction,
  type Ledger,
  type Policy,
  type RefusedDecision,
} from "../../src/engine/index.ts";
import type { JsonObject, JsonValue } from "../../src/protocol/index.ts";
import { createLedger } from "../../src/stores/index.ts";
import { SECRET } from "../crash/life.ts";
import { pointsOf } from "../crash/points.ts";
import { EffectsFile } from "../support/ledger/effects.ts";
import { nextChange, watchCommits, wrapLedger } from "../support/ledger/ledger-proxy.ts";
import type { LedgerView } from "../support/ledger/ledger-view.ts";
import { openView, urlOf } from "../support/ledger/open-view.ts";
import { listen, programOptions, say } from "../support/processes/program.ts";
import { ConversationHost } from "./conversation-host.ts";
import {
  type Answer,
  BRIEF_MS,
  type GateName,
  QUORUMS,
  type RacedVote,
  type RacerLine,
  type RacerMessage,
  type RacerOptions,
  type Replies,
  type Task,
  VOTERS,
  type VoteAnswer,
} from "./racing.ts";

const SWEEP_MS = 20;

type Gate = GatedFunction<JsonObject, JsonValue>;

const GATES: readonly GateName[] = ["quick", "slow", "brief", "pair", "many"];

/** Several voters must approve what needs a quorum; two denials deny it. */
const policy: Policy = ({ tool }) => {
  const count = QUORUMS[tool as keyof typeof QUORUMS];
  if (count === undefined) return undefined;
  const requirements = [{ from: { users: VOTERS }, count }];
  return { outcome: "confirm", reason: "needs a quorum", requirements, denials: 2 };
};

/** One process of a race. It does nothing of its own accord, unless it works. */
class Racer {
  readonly #options: RacerOptions;
  readonly #engine: Engine;
  readonly #host: ConversationHost;
  readonly #view: LedgerView;
  readonly #effects: EffectsFile;
  readonly #gates: ReadonlyMap<GateName, Gate>;
  readonly #inBody: (() => void)[] = [];

  constructor(options: RacerOptions, inner: Ledger) {
    this.#options = options;
    const { leaseMs, heartbeatMs, name } = options;
    const ledger = prepared(inner, options);
    this.#engine = new Engine({ ledger, leaseMs, heartbeatMs, hostName: name, secret: SECRET, policy });
    this.#effects = new EffectsFile(options.effects);
    this.#view = openView(options.ledger);
    this.#host = new ConversationHost(this.#engine, tell);
    this.#engine.host(this.#host);
    this.#gates = new Map(GATES.map((gate) => [gate, this.#gate(gate)]));
  }

  /** A call that a body is in waits for this. */
  leaveBody(): void {
    for (const leave of this.#inBody.splice(0)) leave();
  }

  #gate(gate: GateName): Gate {
    const { name } = this.#options;
    const expiresInMs = gate === "brief" ? { expiresInMs: BRIEF_MS } : {};
    return this.#engine.gate<JsonObject, JsonValue>(
      gate,
      { requireConfirmation: true, ...expiresInMs },
      async (args, { idempotencyKey: call, attempt }) => {
        const seq = await this.#view.lastSeq(call);
        const what = { call, tool: gate, what: "body", attempt, key: call, args, approvals: 1 };
        this.#effects.append({ ...what, seq, pid: process.pid });
        if (gate === "slow") {
          const left = new Promise<void>((resolve) => {
            this.#inBody.push(resolve);
          });
          tell({ type: "in-body", call, attempt });
          await left;
          tell({ type: "left-body", call, attempt });
        }
        return { by: name, attempt };
      },
    );
  }

  work(): void {
    if (this.#options.works) this.#engine.work({ sweepMs: SWEEP_MS });
  }

  async perform(task: Task): Promise<Replies[Task["do"]]> {
    switch (task.do) {
      case "open":
        return this.#open(task);
      case "decide":
        return this.#decide(task);
      case "vote":
        waitUntil(task.at);
        return Promise.all(task.votes.map((vote) => this.#vote(task.confirmation, vote)));
      case "settle": {
        const settled = await this.#engine.decisions.settle(
          { call: task.call },
          task.settlement,
          this.#acting(),
        );
        return settled.ok ? { ok: true } : { ok: false, code: settled.code };
      }
      case "await-call":
        return this.#awaitCall(task);
      case "await-record":
        return this.#awaitRecord(task);
      case "message":
        waitUntil(task.at);
        return this.#host.message(task.session, task.number);
      case "let-go":
        waitUntil(task.at);
        return { ok: await this.#host.letGo(task.session, task.how) };
    }
  }

  async #open({ gate, key }: Extract<Task, { do: "open" }>): Promise<Replies["open"]> {
    const outcome = await this.#gates.get(gate)?.({ order: key }, { key, by: { id: "ana" } });
    const pending = outcome?.status === "pending" ? outcome : undefined;
    return {
      status: outcome?.status ?? "none",
      confirmation: pending?.confirmation.id ?? "",
      call: pending?.callId ?? "",
    };
  }

  async #decide(task: Extract<Task, { do: "decide" }>): Promise<readonly Answer[]> {
    const { confirmation: id, confirmed, times } = task;
    waitUntil(task.at);
    const one = async (): Promise<Answer> => {
      const receipt = await this.#engine.decisions.decide({ id, confirmed }, this.#acting());
      return toAnswer(this.#engine, receipt);
    };
    return Promise.all(Array.from({ length: times }, one));
  }

  async #vote(id: string, { by, how }: RacedVote): Promise<VoteAnswer> {
    const { decisions } = this.#engine;
    const acting = { by: { id: by } };
    const receipt =
      how === "withdraw"
        ? await decisions.withdrawVote(id, acting)
        : await decisions.decide({ id, confirmed: how === "approve" }, acting);
    const status = receipt.confirmation === undefined ? {} : { status: receipt.confirmation.status };
    if (!receipt.ok) return { by, how, ok: false, code: receipt.code, ...status };
    if (receipt.confirmation.status === "approved") await this.#engine.finished(receipt.call.id);
    return { by, how, ok: true, repeated: receipt.repeated, ...status };
  }

  async #awaitCall({
    call: id,
    status,
  }: Extract<Task, { do: "await-call" }>): Promise<Replies["await-call"]> {
    for (;;) {
      const changed = nextChange(this.#engine.ledger);
      const [call] = await this.#engine.ledger.calls([id]);
      if (call?.status === status) return { attempt: call.attempt };
      await changed;
    }
  }

  async #awaitRecord({ kind }: Extract<Task, { do: "await-record" }>): Promise<Replies["await-record"]> {
    for (let after = 0; ; ) {
      const changed = nextChange(this.#engine.ledger);
      const records = await this.#engine.ledger.journal.records({ after, limit: 100 });
      const found = records.find((record) => record.kind === kind);
      if (found !== undefined) return { seq: found.seq };
      after = records.at(-1)?.seq ?? after;
      if (records.length === 0) await changed;
    }
  }

  #acting(): { readonly by: { readonly id: string } } {
    return { by: { id: this.#options.name } };
  }
}

function prepared(inner: Ledger, { stopsAfterClaim, releasesBlindly }: RacerOptions): Ledger {
  const liveFrames: Ledger["liveFrames"] = async (session) =>
    (await inner.liveFrames(session)).filter(({ status }) => status !== "ready");
  const blind = releasesBlindly === true ? { liveFrames } : {};
  return watchCommits(wrapLedger(inner, blind), {
    after: (commit) => {
      if (stopsAfterClaim !== true || !pointsOf(commit).has("approve")) return;
      tell({ type: "claimed" });
      process.kill(process.pid, "SIGSTOP");
    },
  });
}

async function toAnswer(engine: Engine, receipt: Decided | RefusedDecision): Promise<Answer> {
  const vote = receipt.confirmation?.votes.at(-1);
  const decision =
    vote === undefined ? {} : { decision: JSON.stringify([vote.confirmed, vote.by.id, vote.at]) };
  if (!receipt.ok) return { ok: false, code: receipt.code, message: receipt.message, ...decision };
  const { status, result = null } = await engine.finished(receipt.call.id);
  return { ok: true, repeated: receipt.repeated, final: { status, result }, ...decision };
}

// Blocks, so that nothing else of this process comes between the moment and what is done then.
function waitUntil(at = 0): void {
  while (performance.timeOrigin + performance.now() < at);
}

function tell(line: RacerLine): void {
  say(line);
}

const options = programOptions() as RacerOptions;
const racer = new Racer(options, await createLedger(urlOf(options.pooled ?? options.ledger)));
listen((message) => {
  const told = message as RacerMessage;
  if (told.type === "leave-body") return racer.leaveBody();
  const { id, task } = told;
  racer.perform(task).then(
    (value) => tell({ type: "reply", id, value }),
    (error: unknown) => tell({ type: "reply", id, error: String(error) }),
  );
});
racer.work();
tell({ type: "ready" });
