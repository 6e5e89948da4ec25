import { bytesOf, errorText, type FrameRecord, storableText } from "../../engine/index.ts";
import { CountersignError, type JsonObject, type Part, type StoredEvent } from "../../protocol/index.ts";
import { type Agent, firstValue, type HookContext } from "../agents/index.ts";
import { modelOf, type RunContext } from "../run-context.ts";
import type { Model, ModelChunk, ModelRequest } from "./model.ts";
import { wellFormed } from "./well-formed.ts";

/** Each piece has some JSON around it, so all pieces together may be this much larger than the whole. */
const PIECES_SHARE = 16;

/** One question to the agent's model. */
export interface ModelQuestion {
  readonly run: RunContext;
  readonly agent: Agent;
  readonly frame: FrameRecord;
  readonly ctx: HookContext;
  readonly request: ModelRequest;
  /** How many events the request was made from. */
  readonly after: number;
}

/** Asks the model, with hooks; pieces of text go to watchers. A failure becomes an error chunk. */
export async function askModel(question: ModelQuestion): Promise<ModelChunk> {
  const { run, agent, ctx, request } = question;
  const hooks = [run.hooks, agent.hooks];
  try {
    const instead = await firstValue(hooks, "beforeModel", { request, ctx });
    const attributes = { "countersign.agent": agent.name, "countersign.app": run.app };
    const response =
      instead ?? (await run.engine.trace({ name: "model", attributes }, () => generate(question)));
    const chunk = (await firstValue(hooks, "afterModel", { response, ctx })) ?? response;
    // Parts are JSON, as the model sent them or a hook made them.
    checkSize(chunk.parts, run.settings.maxModelBytes);
    const parts: readonly Part[] = wellFormed(chunk.parts as readonly JsonObject[]);
    return { ...chunk, parts: parts.map(withStorableName) };
  } catch (error) {
    return failure(error);
  }
}

/** Throws `too-large` if the answer is over the limit. */
export function checkSize(parts: readonly Part[], maxBytes: number): void {
  const bytes = bytesOf(parts);
  if (bytes <= maxBytes) return;
  throw new CountersignError(
    "too-large",
    `The answer has ${bytes} bytes of JSON; the limit is ${maxBytes}. Set \`maxModelBytes\` of the Runner.`,
  );
}

// A name is stored as plain text, and not every store accepts a NUL. No tool has one in its name.
function withStorableName(part: Part): Part {
  const { functionCall } = part;
  if (functionCall?.name.includes("\0") !== true) return part;
  return { ...part, functionCall: { ...functionCall, name: storableText(functionCall.name) } };
}

async function generate(question: ModelQuestion): Promise<ModelChunk> {
  const { run, agent } = question;
  if (agent.model === undefined) {
    throw new CountersignError("unknown-model", `The agent ${agent.name} has no model. Set \`model\`.`);
  }
  const model = await modelOf(run, agent.model);
  const last = await lastInTime(question, model);
  if (last === undefined || last.partial === true) {
    throw new CountersignError("model-failed", `The model ${model.name} ended without a complete answer.`);
  }
  return last;
}

/** The model's last chunk. Throws if it is silent for too long or the run stops; later chunks are ignored. */
async function lastInTime(question: ModelQuestion, model: Model): Promise<ModelChunk | undefined> {
  const { run, frame, request } = question;
  const { modelTimeoutMs } = run.settings;
  const stopped = run.cancellation.signalOf(frame.invocation);
  const late = new AbortController();
  let wake: (() => void) | undefined;
  // It may not listen to the signal.
  const giveUp = (reason: CountersignError): void => {
    late.abort(reason);
    wake?.();
  };
  const stop = (): void => giveUp(new CountersignError("model-failed", "The run was stopped."));
  if (stopped?.aborted === true) stop();
  stopped?.addEventListener("abort", stop);
  let forget: (() => void) | undefined;
  try {
    const stream = run.feed.wantsPieces(frame.session);
    const chunks = model.generate(request, { signal: late.signal, stream })[Symbol.asyncIterator]();
    const pieces = new Pieces(question, late);
    for (let last: ModelChunk | undefined; ; ) {
      late.signal.throwIfAborted();
      forget = run.after(modelTimeoutMs, () => giveUp(tooSlow(model, modelTimeoutMs)));
      const next = await new Promise<IteratorResult<ModelChunk> | undefined>((resolve, reject) => {
        wake = () => resolve(undefined);
        chunks.next().then(resolve, reject);
      });
      forget();
      if (next === undefined) continue;
      if (next.done === true) return last;
      last = next.value;
      if (last.partial === true) pieces.add(last);
    }
  } finally {
    forget?.();
    stopped?.removeEventListener("abort", stop);
  }
}

/** The pieces of one answer, for those who watch the run. */
class Pieces {
  readonly #question: ModelQuestion;
  readonly #late: AbortController;
  #bytes = 0;

  constructor(question: ModelQuestion, late: AbortController) {
    this.#question = question;
    this.#late = late;
  }

  add({ parts }: ModelChunk): void {
    const { run, frame, after } = this.#question;
    this.#bytes += bytesOf(parts);
    if (this.#bytes > PIECES_SHARE * run.settings.maxModelBytes) {
      this.#late.abort("The answer is too large.");
      checkSize(parts, 0);
    }
    const { session, invocation } = frame;
    run.feed.publish({ kind: "partial", session, invocation, after, event: partialEvent(run, frame, parts) });
  }
}

function tooSlow({ name }: Model, ms: number): CountersignError {
  return new CountersignError(
    "timed-out",
    `The model ${name} sent nothing for ${ms / 1_000} seconds. Try again, or set \`modelTimeoutMs\` of the Runner.`,
  );
}

function partialEvent(run: RunContext, frame: FrameRecord, parts: readonly Part[]): StoredEvent {
  return {
    id: run.newId(),
    timestamp: run.now(),
    author: frame.agent,
    invocationId: frame.invocation,
    ...(frame.branch === undefined ? {} : { branch: frame.branch }),
    content: { role: "model", parts },
    partial: true,
  };
}

function failure(error: unknown): ModelChunk {
  const message = errorText(error);
  return {
    parts: [],
    errorCode: CountersignError.isInstance(error) ? error.code : "model-failed",
    errorMessage: message,
  };
}
