import {
  type Acting,
  type Call,
  type Confirmation,
  type DecisionInput,
  type DecisionRefusal,
  type DecisionResult,
  type Engine,
  type IdempotentRequest,
  type PrincipalInput,
  type ReadOptions,
  refusalError,
  refuseUnknown,
  type SettlementInput,
  toDecisionRefusal,
  toPrincipal,
  type Verdict,
  type Worker,
  type WorkOptions,
} from "../engine/index.ts";
import {
  type Content,
  CountersignError,
  type Event,
  encodeEvent,
  type JsonObject,
} from "../protocol/index.ts";
import { type AnyAgent, readAgentTree } from "./agents/index.ts";
import { createRunContext } from "./create-run-context.ts";
import { Sessions, type Turn } from "./history/index.ts";
import {
  decisionResult,
  eventsAfter,
  type HeaderSource,
  NO_HEADERS,
  ReadMessage,
  type SubmitInput,
  submit,
  turnAfter,
} from "./messages/index.ts";
import type { RunContext } from "./run-context.ts";
import {
  type BeginInput,
  KNOWN_BEGIN_OPTIONS,
  KNOWN_RUN_OPTIONS,
  KNOWN_RUNNER_OPTIONS,
  KNOWN_SEND_OPTIONS,
  type RunInput,
  type RunnerOptions,
  type SendOptions,
} from "./runner-options.ts";
import { type RunEvent, type StreamEvent, toStream, watchRun } from "./streaming/index.ts";

/** A run in progress, and how many of its session's events are known. */
export interface StartedRun {
  /** The session's key in the ledger. */
  readonly session: string;
  readonly invocation: string;
  readonly after: number;
}

/** Runs an app's agents on a ledger. Starts no timers; see {@link Runner.work}. */
export class Runner {
  readonly app: string;
  readonly sessionService: Sessions;
  readonly #options: RunnerOptions;
  readonly #closing = new AbortController();
  readonly #closed = new AbortController();
  #opened: Promise<RunContext> | undefined;

  constructor(options: RunnerOptions) {
    refuseUnknown("Runner", options, KNOWN_RUNNER_OPTIONS);
    refuseUncounted(options);
    this.#options = options;
    this.app = options.app ?? options.agent.name;
    this.sessionService = new Sessions(() => this.#open(), options.wire ?? "adk");
    // Read now, so that a mistake in the tree throws in the constructor.
    readAgentTree(options.agent);
  }

  /** Sends a message and waits until the agent has answered, or waits for a person. */
  async send(message: string | Content, options: SendOptions): Promise<Turn> {
    refuseUnknown("send", options, KNOWN_SEND_OPTIONS);
    const run = await this.#open();
    const session = { app: this.app, user: options.user, id: options.session ?? `s-${run.newId()}` };
    const input = this.#submitInput({ ...options, session, message });
    // Keeps the process alive while somebody waits for an answer.
    const release = run.hold();
    try {
      return await turnAfter(run, await submit(run, input), options);
    } finally {
      release();
    }
  }

  /**
   * Sends a message and yields its events, as ADK clients know them. Leaving the loop only stops watching; the run
   * continues.
   */
  async *run(input: RunInput): AsyncGenerator<Event> {
    const wire = input.wire ?? this.#options.wire ?? "adk";
    for await (const event of this.#watch(input)) {
      if (event.kind !== "progress" && event.event.author !== "user") yield encodeEvent(event.event, wire);
    }
  }

  /** The ADK's name for {@link Runner.run}. */
  runAsync(input: Omit<RunInput, "message"> & { readonly newMessage: Content }): AsyncGenerator<Event> {
    const { newMessage, ...rest } = input;
    return this.run({ ...rest, message: newMessage });
  }

  /** The same as a stream of typed pieces, for user interfaces. */
  async *stream(input: RunInput): AsyncGenerator<StreamEvent> {
    yield* toStream(this.#watch({ ...input, streaming: input.streaming ?? true }));
  }

  /**
   * Sends a message and resolves once it is stored, with what {@link Runner.watch} needs. Only for text: a message that
   * answers confirmations is refused.
   */
  async begin(input: BeginInput): Promise<StartedRun> {
    refuseUnknown("begin", input, KNOWN_BEGIN_OPTIONS);
    const run = await this.#open();
    const session = { app: this.app, user: input.userId, id: input.sessionId };
    const submitted = this.#submitInput({ ...input, session, user: input.userId });
    if (submitted.message.answers) {
      throw new CountersignError(
        "malformed-request",
        "A message that starts a run cannot contain an answer.",
      );
    }
    const { sessionKey, run: started } = await submit(run, submitted);
    if (started === undefined) throw new CountersignError("internal", "The message started no run.");
    return { session: sessionKey, ...started };
  }

  /**
   * Follows a run until it needs a person or ends, wherever it runs; with `untilEnded` only until it ends. Leaving the
   * loop, or the signal, only stops watching.
   */
  async *watch({
    streaming = false,
    ...started
  }: StartedRun & {
    readonly streaming?: boolean;
    readonly untilEnded?: boolean;
    readonly signal?: AbortSignal;
  }): AsyncGenerator<RunEvent> {
    yield* watchRun(await this.#open(), { ...started, pieces: streaming });
  }

  /** Approves a confirmation. Resolves once committed; the run continues by itself. Throws if refused. */
  async approve(id: string, verdict: Verdict): Promise<DecisionResult<Turn>> {
    return this.#decideOne({ ...verdict, id, confirmed: true }, verdict);
  }

  /** Denies a confirmation; the model gets the reason. Throws if refused. */
  async deny(id: string, verdict: Verdict): Promise<DecisionResult<Turn>> {
    return this.#decideOne({ ...verdict, id, confirmed: false }, verdict);
  }

  /** Decides many, independently: each entry is a result or a refusal. */
  async decide(
    decisions: readonly DecisionInput[],
    acting: Acting,
  ): Promise<readonly (DecisionResult<Turn> | DecisionRefusal)[]> {
    const run = await this.#open();
    const outcomes = await run.engine.decisions.decideAll(decisions, acting);
    return outcomes.map((outcome) =>
      outcome.ok ? decisionResult(run, outcome, acting) : toDecisionRefusal(outcome, acting),
    );
  }

  /** Withdraws an open confirmation, or an approval whose call has not started. Throws if refused. */
  async cancel(id: string, acting: Acting & { readonly reason: string }): Promise<Confirmation> {
    return (await this.engine()).cancel(id, acting);
  }

  /** Withdraws one's own vote while more votes are needed. Throws if refused. */
  async withdrawVote(id: string, acting: Acting): Promise<Confirmation> {
    return (await this.engine()).withdrawVote(id, acting);
  }

  /** Settles the call of a confirmation if its outcome is unknown. Throws if refused. */
  async settle(id: string, settlement: SettlementInput, acting: Acting): Promise<Confirmation> {
    return (await this.engine()).settle(id, settlement, acting);
  }

  /** Settles an unknown call that had no confirmation, by its own id. Throws if refused. */
  async settleCall(id: string, settlement: SettlementInput, acting: Acting): Promise<Call> {
    return (await this.engine()).settleCall(id, settlement, acting);
  }

  /** A confirmation as it is now. Throws `unknown-confirmation`. */
  async confirmation(id: string, options?: ReadOptions): Promise<Confirmation> {
    return (await this.engine()).confirmation(id, options);
  }

  /** The open confirmations of this app, nearest deadline first. */
  async pending(filter: ReadOptions & { readonly user?: string } = {}): Promise<readonly Confirmation[]> {
    return (await this.engine()).pending({ ...filter, app: this.app });
  }

  /**
   * Runs calls approved elsewhere, expiry and recovery: until stopped, or once, for hosts without long-lived processes.
   */
  work(options: WorkOptions & { readonly once: true }): Promise<void>;
  work(options?: WorkOptions): Pick<Worker, "stop">;
  work({
    once,
    ...options
  }: WorkOptions & { readonly once?: boolean } = {}): Promise<void> | Pick<Worker, "stop"> {
    if (once === true) return this.#open().then(({ engine }) => engine.work({ ...options, once }));
    const worker = this.#open().then(({ engine }) => engine.work(options));
    // The error is thrown by `stop` and by other uses of the Runner.
    worker.catch(() => {});
    return { stop: async () => (await worker).stop() };
  }

  /** The agent that answers first. */
  get agent(): AnyAgent {
    return this.#options.agent;
  }

  /** The engine, for everything that is not about agents. */
  async engine(): Promise<Engine> {
    return (await this.#open()).engine;
  }

  /**
   * Closes the Runner, and its engine if it is its own. Everything that still waits for a run rejects with `closed`.
   */
  async close(): Promise<void> {
    this.#closing.abort();
    try {
      const run = await this.#opened;
      await run?.background.settled();
      // A shared engine is closed by its creator.
      if (this.#options.engine === undefined) await run?.engine.close();
    } finally {
      this.#closed.abort();
    }
  }

  async #open(): Promise<RunContext> {
    if (this.#closed.signal.aborted) throw new CountersignError("closed", "The Runner was closed.");
    // The error may be gone at the next use.
    this.#opened ??= createRunContext(this.app, this.#options, {
      closing: this.#closing.signal,
      closed: this.#closed.signal,
    }).catch((error: unknown) => {
      this.#opened = undefined;
      throw error;
    });
    return this.#opened;
  }

  async *#watch(input: RunInput): AsyncGenerator<RunEvent> {
    refuseUnknown("run", input, KNOWN_RUN_OPTIONS);
    const run = await this.#open();
    const session = { app: this.app, user: input.userId, id: input.sessionId };
    const submitted = this.#submitInput({ ...input, session, user: input.userId });
    const submission = await submit(run, submitted);
    yield* eventsAfter(run, submission, input);
  }

  #submitInput(input: {
    readonly session: SubmitInput["session"];
    readonly user: string;
    readonly message: RunInput["message"];
    readonly stateDelta?: JsonObject;
    readonly invocationId?: string;
    readonly by?: PrincipalInput;
    readonly via?: string;
    readonly once?: IdempotentRequest;
    readonly requestHeaders?: HeaderSource;
  }): SubmitInput {
    const { session, user, message, stateDelta, invocationId, by, via = "run", once } = input;
    return {
      session,
      message: read(message),
      decider: { by: toPrincipal(by ?? { id: user }), via },
      ...(by === undefined || by.id === user ? {} : { requesters: [user, by.id] }),
      whilePending: this.#options.whilePending ?? "converse",
      requestHeaders: input.requestHeaders ?? NO_HEADERS,
      ...(stateDelta === undefined ? {} : { stateDelta }),
      ...(invocationId === undefined ? {} : { invocation: invocationId }),
      ...(once === undefined ? {} : { once }),
    };
  }

  async #decideOne(decision: DecisionInput, acting: Acting): Promise<DecisionResult<Turn>> {
    const run = await this.#open();
    const decided = await run.engine.decisions.decide(decision, acting);
    if (!decided.ok) throw refusalError(decided);
    return decisionResult(run, decided, acting);
  }
}

function read(message: RunInput["message"]): ReadMessage {
  if (message instanceof ReadMessage) return message;
  return new ReadMessage(typeof message === "string" ? { parts: [{ text: message }] } : message);
}

// Votes are counted by the engine's groups and persons: those of another file would admit nobody, or one person twice.
function refuseUncounted({ engine, policy }: RunnerOptions): void {
  if (engine === undefined || policy === undefined || typeof policy === "function") return;
  throw new CountersignError(
    "invalid-option",
    "A Runner with a given engine takes no policy file. Give the file to the engine: createEngine({ policy }).",
    { details: { option: "policy" } },
  );
}
